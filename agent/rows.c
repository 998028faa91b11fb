/* SPDX-License-Identifier: MIT */
/*
 * rows.c - process and thread rows.
 *
 * Fresh rows are cheap to find but cost memory, ended ones are costly to find but cost none, so
 * each request looks at a few rows behind a cursor for an ended one before it takes a fresh one,
 * and at all of them only when there is no fresh one left.
 *
 * A SIGKILL may cut off a fold. A slot is added to its new row and then emptied, so what is left
 * of a half-folded row is still to be folded, and a later request does it.
 */
#include "agent/rows.h"
#include "agent/segment_writer.h"
#include "agent/table.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define LOOKS 16

static uint32_t thread_cursor;
static uint32_t process_cursor;

struct seg_thread *rows_thread(uint32_t index)
{
	return (struct seg_thread *)segment_at(segment->regions[SEG_THREADS].offset) + index;
}

struct seg_process *rows_process(uint32_t index)
{
	return (struct seg_process *)segment_at(segment->regions[SEG_PROCESSES].offset) + index;
}

static uint32_t threads_used(void)
{
	return (uint32_t)(segment->regions[SEG_THREADS].used / sizeof(struct seg_thread));
}

static uint32_t processes_used(void)
{
	return (uint32_t)(segment->regions[SEG_PROCESSES].used / sizeof(struct seg_process));
}

static bool died(const struct seg_thread *row)
{
	if (!(__atomic_load_n((const uint32_t *)row->life, __ATOMIC_ACQUIRE) & SEG_LIFE_DIED))
		return false;
	HT_KERNEL_ACQUIRED((void *)row->life);
	return true;
}

/* Another record of `size` bytes at the end of the region: its index, or ROWS_NONE. */
static uint32_t extend(enum seg_region_id id, size_t size)
{
	struct seg_region *region = &segment->regions[id];
	uint64_t used = region->used;

	if (used + size > region->size || !segment_reserve(id, used + size))
		return ROWS_NONE;
	memset(segment_at(region->offset + used), 0, size);
	region->used = used + size;
	return (uint32_t)(used / size);
}

static void give_table(struct seg_thread *row)
{
	uint64_t word = row->table;

	if (!word)
		return;
	row->table = 0;
	row->slots = 0;
	segment_give_table(SEG_TABLE_OFFSET(word), SEG_TABLE_LOG2(word));
}

/* Another table, the same generation but one: even. */
static void set_table(struct seg_thread *row, uint64_t offset, unsigned log2)
{
	uint64_t generation = (row->table >> SEG_TABLE_GENERATION_SHIFT) + 2;

	__atomic_store_n(&row->table, SEG_TABLE_WORD(offset, log2, generation), __ATOMIC_RELEASE);
}

void rows_change_table(struct seg_thread *row)
{
	__atomic_store_n(&row->table, row->table + SEG_TABLE_GENERATION, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

void rows_changed_table(struct seg_thread *row)
{
	__atomic_store_n(&row->table, row->table + SEG_TABLE_GENERATION, __ATOMIC_RELEASE);
}

void rows_settle_table(struct seg_thread *row)
{
	if (row->table & SEG_TABLE_GENERATION)
		rows_changed_table(row);
}

/* A row without a table has a table of no slots. */
static struct table table_of(const struct seg_thread *row)
{
	struct table table = {NULL, 0};

	if (row->table) {
		table.slots = segment_at(SEG_TABLE_OFFSET(row->table));
		table.mask = table_mask(SEG_TABLE_LOG2(row->table));
	}
	return table;
}

static void copy_table(const struct table *to, const struct table *from)
{
	uint64_t count = from->slots ? from->mask / sizeof(struct seg_slot) + 1 : 0;

	for (uint64_t i = 0; i < count; i++)
		if (from->slots[i].key)
			*table_probe(to, from->slots[i].key) = from->slots[i];
}

bool rows_grow_table(struct seg_thread *row)
{
	struct table old = table_of(row), new;
	uint64_t word = row->table;
	unsigned log2 = word ? SEG_TABLE_LOG2(word) + 1 : SEG_TABLE_LOG2_MIN;
	uint64_t offset = log2 <= SEG_TABLE_LOG2_MAX ? segment_take_table(log2) : 0;

	if (!offset)
		return false;
	new.slots = segment_at(offset);
	new.mask = table_mask(log2);
	copy_table(&new, &old);
	set_table(row, offset, log2);
	if (word)
		segment_give_table(SEG_TABLE_OFFSET(word), log2 - 1);
	return true;
}

static struct seg_slot *find_or_fill(struct seg_thread *row, uint64_t key)
{
	do {
		struct table table = table_of(row);
		struct seg_slot *slot = table.slots ? table_probe(&table, key) : NULL;

		if (slot && slot->key)
			return slot;
		if (slot && table_has_room(&table, row->slots)) {
			table_fill(slot, key);
			row->slots++;
			return slot;
		}
	} while (rows_grow_table(row));
	return NULL;
}

void rows_add(struct seg_thread *row, uint64_t key, const struct seg_tally *tally)
{
	struct seg_slot *slot = key & SEG_KEY_ADDRESS ? find_or_fill(row, key) : NULL;
	struct seg_tally *other = &row->other[(key >> SEG_KEY_SHIFT) % SEG_KINDS];

	if (slot) {
		slot->count += tally->count;
		slot->bytes += tally->bytes;
		slot->more += tally->more;
		return;
	}
	other->count += tally->count;
	other->bytes += tally->bytes;
	other->more += tally->more;
}

static void fold_table(struct seg_thread *to, struct seg_thread *from)
{
	struct seg_slot *slots = segment_at(SEG_TABLE_OFFSET(from->table));

	for (size_t i = 0; from->table && i < 1ull << SEG_TABLE_LOG2(from->table); i++) {
		struct seg_slot *slot = &slots[i];
		struct seg_tally tally = {slot->count, slot->bytes, slot->more};

		if (!slot->key)
			continue;
		if (tally.count)
			rows_add(to, slot->key, &tally);
		slot->count = slot->bytes = slot->more = 0;
	}
	give_table(from);
}

/* Moves all counts of `from` to `to`; `from` is free afterwards. */
static void fold(struct seg_thread *to, struct seg_thread *from)
{
	HT_KERNEL_ACQUIRED(to->life); /* either may be what another process saw ended */
	HT_KERNEL_ACQUIRED(from->life);
	from->state = SEG_THREAD_FOLDING;
	fold_table(to, from);
	for (unsigned i = 0; i < SEG_SIZE_CLASSES; i++) {
		to->sizes[i] += from->sizes[i];
		from->sizes[i] = 0;
	}
	for (uint64_t kind = 1; kind < SEG_KINDS; kind++) {
		if (from->other[kind].count)
			rows_add(to, kind << SEG_KEY_SHIFT, &from->other[kind]);
		memset(&from->other[kind], 0, sizeof(from->other[kind]));
	}
	from->state = SEG_THREAD_FREE;
}

static void fold_begin(void)
{
	__atomic_store_n(&segment->fold_seq, segment->fold_seq | 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void fold_end(void)
{
	__atomic_store_n(&segment->fold_seq, (segment->fold_seq | 1) + 1, __ATOMIC_RELEASE);
}

/* The process is gone: its ENDED row goes to the family's, its own row is free. */
static void fold_process(struct seg_process *process)
{
	if (process->ended_row)
		fold(rows_thread(SEG_ROW_ENDED), rows_thread(process->ended_row));
	process->ended_row = 0;
	process->state = SEG_PROCESS_FREE;
	process->generation++;
	segment->processes_folded++;
}

/* Frees the row of an ended thread. Returns false where the row stays in use: it has become the
 * ENDED row of its process. */
static bool fold_thread(uint32_t index)
{
	struct seg_thread *row = rows_thread(index);
	struct seg_process *process = rows_process(row->process);
	bool last;

	process->threads_folded++;
	last = !--process->rows;
	if (!last && !process->ended_row) {
		row->state = SEG_THREAD_ENDED;
		process->ended_row = index;
		return false;
	}
	fold(rows_thread(last ? SEG_ROW_ENDED : process->ended_row), row);
	if (last)
		fold_process(process);
	return true;
}

/* A row that a process left half folded when it was killed: `rows` no longer counts it. */
static bool finish_fold(uint32_t index)
{
	fold(rows_thread(SEG_ROW_ENDED), rows_thread(index));
	return true;
}

static bool try_reuse(uint32_t index)
{
	struct seg_thread *row = rows_thread(index);
	bool freed;

	if (row->state == SEG_THREAD_FREE)
		return true;
	if (row->state != SEG_THREAD_FOLDING && !(row->state == SEG_THREAD_USED && died(row)))
		return false;
	fold_begin();
	freed = row->state == SEG_THREAD_FOLDING ? finish_fold(index) : fold_thread(index);
	fold_end();
	return freed;
}

/* Looks at `looks` rows from the cursor on for one that is free or can be made so. */
static uint32_t reuse_thread(uint32_t looks)
{
	uint32_t used = threads_used();

	if (looks > used)
		looks = used;
	while (looks--) {
		uint32_t index = thread_cursor++ % used;

		if (index <= SEG_ROW_ENDED)
			continue;
		if (try_reuse(index))
			return index;
	}
	return ROWS_NONE;
}

static uint32_t reuse_process(uint32_t looks)
{
	uint32_t used = processes_used();

	if (looks > used)
		looks = used;
	while (looks--) {
		uint32_t index = process_cursor++ % used;

		if (rows_process(index)->state == SEG_PROCESS_FREE)
			return index;
	}
	return ROWS_NONE;
}

/* Frees what can be freed; for when there are no fresh process rows left. */
static void fold_all(void)
{
	for (uint32_t i = SEG_ROW_ENDED + 1; i < threads_used(); i++)
		try_reuse(i);
}

static uint32_t find_process(void)
{
	uint32_t index = reuse_process(LOOKS);

	if (index == ROWS_NONE)
		index = extend(SEG_PROCESSES, sizeof(struct seg_process));
	if (index == ROWS_NONE) {
		fold_all();
		index = reuse_process(processes_used());
	}
	return index;
}

static uint32_t find_thread(void)
{
	uint32_t index = reuse_thread(LOOKS);

	if (index == ROWS_NONE)
		index = extend(SEG_THREADS, sizeof(struct seg_thread));
	return index == ROWS_NONE ? reuse_thread(threads_used()) : index;
}

uint32_t rows_take_process(int32_t pid)
{
	uint32_t index = find_process();
	struct seg_process *process;
	struct timespec now;

	if (index == ROWS_NONE)
		return index;
	process = rows_process(index);
	clock_gettime(CLOCK_REALTIME, &now);
	process->pid = pid;
	process->ended_row = 0;
	process->rows = 0;
	process->started_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	process->threads_started = 0;
	process->threads_folded = 0;
	__atomic_store_n(&process->state, SEG_PROCESS_USED, __ATOMIC_RELEASE);
	segment->processes_started++;
	return index;
}

bool rows_give_process(uint32_t index)
{
	struct seg_process *process = rows_process(index);

	if (process->rows || process->ended_row)
		return false;
	process->generation++;
	process->state = SEG_PROCESS_FREE;
	segment->processes_started--;
	return true;
}

/* Holds the row's mutex for the rest of this thread's life; the kernel marks it at the end. */
static void hold_life(struct seg_thread *row)
{
	pthread_mutex_t *life = (pthread_mutex_t *)row->life;
	pthread_mutexattr_t attributes;

	HT_MUTEX_GONE(life);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(life, &attributes);
	pthread_mutexattr_destroy(&attributes);
	pthread_mutex_lock(life);
}

uint32_t rows_take_thread(uint32_t process)
{
	uint32_t index = find_thread();
	struct seg_thread *row;

	if (index == ROWS_NONE)
		return index;
	row = rows_thread(index);
	hold_life(row);
	row->process = process;
	row->serial = ++segment->threads_started;
	rows_process(process)->rows++;
	rows_process(process)->threads_started++;
	rows_grow_table(row);
	__atomic_store_n(&row->state, SEG_THREAD_USED, __ATOMIC_RELEASE);
	return index;
}

bool rows_create(void)
{
	if (extend(SEG_THREADS, sizeof(struct seg_thread)) != SEG_ROW_SHARED ||
	    extend(SEG_THREADS, sizeof(struct seg_thread)) != SEG_ROW_ENDED)
		return false;
	rows_thread(SEG_ROW_SHARED)->state = SEG_THREAD_SHARED;
	rows_thread(SEG_ROW_ENDED)->state = SEG_THREAD_ENDED;
	return true;
}

bool rows_others_alive(uint32_t process)
{
	for (uint32_t i = SEG_ROW_ENDED + 1; i < threads_used(); i++) {
		const struct seg_thread *row = rows_thread(i);

		if (row->state == SEG_THREAD_USED && row->process != process && !died(row))
			return true;
	}
	return false;
}

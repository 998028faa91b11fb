/* SPDX-License-Identifier: MIT */
/*
 * segment_walk.c - see segment_walk.h.
 *
 * Each row's table is read right after the row; it is void when its word changed or says that it is
 * being changed, and is tried again a bounded number of times. What all of it may cost is bounded
 * by the size of the heap, not by what the rows say.
 */
#include "dashboard/segment_walk.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	TABLE_TRIES = 4,
	PAUSES_MAX = 32,
	PAUSE_NS = 30000,	 /* moving a slot takes less than a microsecond */
	ROWS_AT_ONCE = 16,	 /* 14 KiB of stack */
	SLOTS_AT_ONCE = 512,	 /* 16 KiB of stack */
	PROCESSES_MAX = 1 << 16, /* `used` may lie about a hole: bounds what is read for it */
	MODULES_MAX = 1 << 14,
};

int segment_read_at(int fd, void *out, size_t size, uint64_t offset)
{
	char *at = out;

	while (size > 0) {
		ssize_t got = pread(fd, at, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EBADMSG; /* truncated since it was opened */
		at += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return 0;
}

static uint32_t life_word(const struct seg_thread *row, size_t index)
{
	uint32_t word;

	memcpy(&word, row->life + index * sizeof(word), sizeof(word));
	return word;
}

uint32_t segment_row_life(const struct seg_thread *row)
{
	return life_word(row, 0);
}

bool segment_row_live(const struct seg_thread *row)
{
	uint32_t word = life_word(row, 0);

	return row->state == SEG_THREAD_USED && !(word & SEG_LIFE_DIED) && SEG_LIFE_TID(word) != 0;
}

/* The kernel clears the tid when it marks the owner dead; pthread_mutex_t keeps it in its third
 * word, which is part of glibc's ABI. */
static int32_t row_tid(const struct seg_thread *row)
{
	uint32_t tid = SEG_LIFE_TID(life_word(row, 0));

	if (row->state == SEG_THREAD_ENDED || row->state == SEG_THREAD_SHARED)
		return 0;
	return (int32_t)(tid ? tid : SEG_LIFE_TID(life_word(row, 2)));
}

uint32_t segment_row_count(const struct seg_header *header)
{
	return (uint32_t)(header->regions[SEG_THREADS].used / sizeof(struct seg_thread));
}

uint64_t segment_row_offset(const struct seg_header *header, uint32_t row)
{
	return header->regions[SEG_THREADS].offset + (uint64_t)row * sizeof(struct seg_thread);
}

static uint64_t table_size(uint64_t word)
{
	return (uint64_t)sizeof(struct seg_slot) << SEG_TABLE_LOG2(word);
}

/* Against the region's size, not `used`: a table may be newer than the header that was read. */
static bool table_valid(const struct seg_header *header, uint64_t word)
{
	const struct seg_region *heap = &header->regions[SEG_HEAP];
	uint64_t offset = SEG_TABLE_OFFSET(word);
	unsigned log2 = SEG_TABLE_LOG2(word);

	if (log2 < SEG_TABLE_LOG2_MIN || log2 > SEG_TABLE_LOG2_MAX)
		return false;
	return offset >= heap->offset && offset - heap->offset <= heap->size &&
	       table_size(word) <= heap->size - (offset - heap->offset);
}

static int read_table(int fd, struct snapshot *snapshot, uint64_t word)
{
	uint64_t offset = SEG_TABLE_OFFSET(word);
	size_t left = (size_t)1 << SEG_TABLE_LOG2(word);
	struct seg_slot chunk[SLOTS_AT_ONCE];

	while (left > 0) {
		size_t n = left < SLOTS_AT_ONCE ? left : SLOTS_AT_ONCE;
		int err = segment_read_at(fd, chunk, n * sizeof(struct seg_slot), offset);

		for (size_t i = 0; i < n && !err; i++)
			err = snapshot_add_slot(snapshot, &chunk[i]);
		if (err)
			return err;
		offset += n * sizeof(struct seg_slot);
		left -= n;
	}
	return 0;
}

/* Reads what one table holds; one that is no table, or too much for the budget, holds nothing. */
static int read_table_once(int fd, struct snapshot *snapshot, uint64_t word, uint64_t budget)
{
	if (word == 0)
		return 0;
	if (table_valid(&snapshot->header, word) && table_size(word) <= budget)
		return read_table(fd, snapshot, word);
	snapshot->invalid++;
	return 0;
}

/* What all tables of one walk together may cost: many rows may name one table, or pretend to be in
 * the midst of a change. */
struct allowance {
	uint64_t bytes;
	unsigned pauses;
};

static void settle(struct allowance *allowance)
{
	const struct timespec pause = {0, PAUSE_NS};

	if (allowance->pauses == 0)
		return;
	allowance->pauses--;
	nanosleep(&pause, NULL);
}

/* Reads the sites of one row, which is read anew with them. */
static int read_sites(int fd, struct snapshot *snapshot, struct seg_thread *row, uint64_t offset,
		      struct allowance *allowance)
{
	size_t first = snapshot->slot_count;
	uint64_t invalid = snapshot->invalid;
	bool settled = false;
	uint64_t word = row->table;

	for (int try = 0; try < TABLE_TRIES && !settled; try++) {
		int err;

		if (try > 0)
			settle(allowance);
		word = row->table;
		snapshot->slot_count = first;
		snapshot->invalid = invalid;
		err = read_table_once(fd, snapshot, word, allowance->bytes);
		if (!err)
			err = segment_read_at(fd, row, sizeof(*row), offset);
		if (err)
			return err;
		settled = row->table == word && !(word & SEG_TABLE_GENERATION);
	}
	if (table_valid(&snapshot->header, word) && table_size(word) <= allowance->bytes)
		allowance->bytes -= table_size(word);
	/* A dead thread's table is what it is, though it may have died in the midst of a change. */
	if (!settled && segment_row_live(row))
		snapshot->torn = true;
	return 0;
}

static int add_thread(int fd, struct snapshot *snapshot, struct seg_thread *row, uint32_t index,
		      struct allowance *allowance)
{
	size_t at = snapshot->thread_count;
	struct snapshot_thread *thread;
	int err;

	if (row->state == SEG_THREAD_FREE)
		return 0;
	if (row->state > SEG_THREAD_SHARED) {
		snapshot->invalid++;
		return 0;
	}
	thread = &snapshot->threads[at];
	*thread = (struct snapshot_thread){
		.row = index,
		.state = (uint8_t)row->state,
		.first_slot = (uint32_t)snapshot->slot_count,
	};
	if (row->state != SEG_THREAD_SHARED) {
		err = read_sites(fd, snapshot, row, segment_row_offset(&snapshot->header, index),
				 allowance);
		if (err)
			return err;
	}
	err = snapshot_add_other(snapshot, row);
	if (err)
		return err;
	thread->serial = row->serial;
	thread->process = row->process;
	thread->tid = row_tid(row);
	thread->live = segment_row_live(row) && thread->state == SEG_THREAD_USED;
	thread->slot_count = (uint32_t)(snapshot->slot_count - thread->first_slot);
	memcpy(snapshot->sizes[at], row->sizes, sizeof(row->sizes));
	snapshot->thread_count = at + 1;
	return 0;
}

static int read_threads(int fd, struct snapshot *snapshot)
{
	struct allowance allowance = {snapshot->header.regions[SEG_HEAP].size, PAUSES_MAX};
	uint32_t rows = segment_row_count(&snapshot->header);
	struct seg_thread chunk[ROWS_AT_ONCE];
	int err;

	/* In steps: `used` alone must not make us allocate. */
	for (uint32_t first = 0; first < rows; first += ROWS_AT_ONCE) {
		uint32_t n = rows - first < ROWS_AT_ONCE ? rows - first : ROWS_AT_ONCE;

		err = snapshot_make_thread_room(snapshot, snapshot->thread_count + n);
		if (!err)
			err = segment_read_at(fd, chunk, n * sizeof(struct seg_thread),
					      segment_row_offset(&snapshot->header, first));
		for (uint32_t i = 0; i < n && !err; i++)
			err = add_thread(fd, snapshot, &chunk[i], first + i, &allowance);
		if (err)
			return err;
	}
	return 0;
}

/* How many records of a plain region to read: `used` may lie about a hole. */
static size_t record_count(const struct seg_region *region, size_t size, size_t max)
{
	uint64_t used = region->used / size;

	return used < max ? (size_t)used : max;
}

static int read_processes(int fd, struct snapshot *snapshot)
{
	const struct seg_region *region = &snapshot->header.regions[SEG_PROCESSES];
	size_t n = record_count(region, sizeof(struct seg_process), PROCESSES_MAX);
	struct seg_process *processes;

	processes =
		snapshot_grow(snapshot->processes, &snapshot->process_room, n, sizeof(*processes));
	if (!processes)
		return -ENOMEM;
	snapshot->processes = processes;
	snapshot->process_count = n;
	return segment_read_at(fd, processes, n * sizeof(*processes), region->offset);
}

static bool module_valid(const struct seg_module *module)
{
	return module->start < module->end && module->build_id_size <= SEG_BUILD_ID_MAX &&
	       module->path_size < SEG_MODULE_PATH;
}

static int read_modules(int fd, struct snapshot *snapshot)
{
	const struct seg_region *region = &snapshot->header.regions[SEG_MODULES];
	size_t n = record_count(region, sizeof(struct seg_module), MODULES_MAX);
	struct seg_module *modules;
	int err;

	modules = snapshot_grow(snapshot->modules, &snapshot->module_room, n, sizeof(*modules));
	if (!modules)
		return -ENOMEM;
	snapshot->modules = modules;
	snapshot->module_count = 0;
	err = segment_read_at(fd, modules, n * sizeof(*modules), region->offset);
	for (size_t i = 0; i < n && !err; i++) {
		if (module_valid(&modules[i])) {
			modules[i].path[modules[i].path_size] = '\0';
			modules[snapshot->module_count++] = modules[i];
		} else if (modules[i].end != 0) { /* 0: not written yet */
			snapshot->invalid++;
		}
	}
	return err;
}

int segment_walk(int fd, struct snapshot *snapshot)
{
	int err;

	snapshot->thread_count = 0;
	snapshot->slot_count = 0;
	snapshot->invalid = 0;
	snapshot->torn = false;
	err = read_processes(fd, snapshot);
	if (!err)
		err = read_threads(fd, snapshot);
	if (!err)
		err = read_modules(fd, snapshot);
	return err;
}

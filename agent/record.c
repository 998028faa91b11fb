/* SPDX-License-Identifier: MIT */
/*
 * record.c - what the hot path leaves over: new call sites, new threads, forked children, the time
 * before main(), and the cases without a place, where calls are only tallied.
 *
 * Cold code may be interrupted by a signal handler that allocates. `inside` holds the stack
 * address of the frame that is at work; a handler sees it and only tallies. After a longjmp out of
 * such a handler the mark stays behind: a frame shortly above it on the same stack knows that the
 * work was abandoned, and takes over.
 */
#include "agent/record.h"
#include "agent/modules.h"
#include "agent/rows.h"
#include "agent/segment_writer.h"
#include "agent/system.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define RETRY_CALLS 256 /* calls to wait after no row, lock or memory was to be had */
#define SAME_STACK  (8u << 20)
#define MUCH_BUSIER 64

enum mode { MODE_EARLY, MODE_ON, MODE_OFF };

/* One per process, at the start of the private memory, wiped by fork. */
struct record_process {
	uint32_t enrolled; /* `index` and `generation` are valid */
	uint32_t index;
	uint32_t generation;
	int32_t pid;
	uint32_t without_row; /* forked behind libc's back: everything is tallied */
	uint32_t ignored;     /* HEAPTAP_CHILDREN=off */
	uint32_t patience;    /* calls to go until a row is asked for again */
};

#define THREADS_OFFSET 4096u

/* Calls before the constructor. Only the first thread gets the table; nobody else runs then. */
#define EARLY_LOG2 6
static struct seg_slot early_slots[1 << EARLY_LOG2];
static struct seg_thread early_row;
static struct record_thread early = {
	.table = {early_slots, sizeof(early_slots) - sizeof(early_slots[0])},
	.sizes = early_row.sizes,
	.row = &early_row,
};

static struct record_thread nobody;
HT_TLS struct record_thread *record_self = &nobody;
static HT_TLS uintptr_t inside;

static enum mode mode;
static bool early_taken;
static bool started; /* inherited by fork, unlike `process` */
static bool follow;
static struct record_process *process;
static struct record_thread *threads; /* by row index */
static uint32_t thread_capacity;

static bool enter(uintptr_t frame)
{
	if (inside) {
		/* a handler's frame lies below the one that it interrupted */
		if (frame < inside || frame - inside >= SAME_STACK)
			return false;
		if (segment)
			segment_break_lock();
	}
	inside = frame;
	return true;
}

static void leave(void)
{
	inside = 0;
}

/* Where the thread's table lies may have changed. */
static void attach(struct record_thread *self)
{
	uint64_t word = self->row->table;

	self->table.mask = table_mask(SEG_TABLE_LOG2(word));
	self->sizes = self->row->sizes;
	__atomic_store_n(&self->table.slots, word ? segment_at(SEG_TABLE_OFFSET(word)) : NULL,
			 __ATOMIC_RELEASE);
}

static bool mine(const struct record_thread *self)
{
	return self >= threads && self < threads + thread_capacity;
}

/* A raw clone leaves libc's idea of the thread's id unchanged, so the kernel will never mark a row
 * held under it. The forking thread's own row tells: it shows that same id. */
static bool forked_by_raw_clone(int32_t tid)
{
	const struct record_thread *self = record_self;

	if (!mine(self))
		return false;
	return SEG_LIFE_TID(*(const uint32_t *)rows_thread((uint32_t)(self - threads))->life) ==
	       (uint32_t)tid;
}

/* The lock's word holds the id of its holder: no syscall, which a seccomp filter might not like. */
static int32_t own_tid(void)
{
	return (int32_t)SEG_LIFE_TID(*(const uint32_t *)segment->lock);
}

static bool enroll_process(void)
{
	uint32_t index;

	if (process->enrolled && rows_process(process->index)->generation == process->generation)
		return true;
	if (!process->pid) {
		/* The thread that forked is the child's main thread; another one, or one that had
		 * not recorded, has to ask. */
		process->pid = mine(record_self) ? own_tid() : system_getpid();
		if (started && forked_by_raw_clone(process->pid)) {
			process->without_row = 1;
			segment_drop(SEG_DROP_PROCESSES);
			return false;
		}
	}
	index = rows_take_process(process->pid);
	if (index == ROWS_NONE) {
		segment_drop(SEG_DROP_PROCESSES);
		return false;
	}
	process->index = index;
	process->generation = rows_process(index)->generation;
	process->enrolled = 1;
	return true;
}

/* Under the lock. */
static struct record_thread *enroll(void)
{
	struct record_thread *self;
	uint32_t index;

	if (!enroll_process())
		return NULL;
	index = rows_take_thread(process->index);
	if (index == ROWS_NONE) {
		if (rows_give_process(process->index))
			process->enrolled = 0;
		return NULL;
	}
	self = &threads[index];
	self->row = rows_thread(index);
	attach(self);
	record_self = self;
	return self;
}

/* After something was not to be had, the next calls do without it. */
static void wait_some(void)
{
	__atomic_store_n(&process->patience, RETRY_CALLS, __ATOMIC_RELAXED);
}

static bool must_wait(void)
{
	uint32_t left = __atomic_load_n(&process->patience, __ATOMIC_RELAXED);

	if (left)
		__atomic_store_n(&process->patience, left - 1, __ATOMIC_RELAXED);
	return left;
}

static bool lock_or_wait(void)
{
	if (must_wait())
		return false;
	if (segment_lock())
		return true;
	wait_some();
	return false;
}

static struct record_thread *new_thread(void)
{
	struct record_thread *self;

	if (!process->pid && started && !follow)
		process->ignored = 1;
	if (process->ignored || process->without_row)
		return NULL;
	if (!lock_or_wait())
		return NULL;
	self = enroll();
	segment_unlock();
	if (!self)
		wait_some();
	return self;
}

/* The calling thread's state; NULL where it has none. */
static struct record_thread *current(void)
{
	struct record_thread *self = record_self;

	if (mode == MODE_EARLY) {
		if (self == &nobody && !__atomic_exchange_n(&early_taken, true, __ATOMIC_RELAXED))
			record_self = self = &early;
		return self == &early ? self : NULL;
	}
	if (!mine(self) || !self->row)
		return new_thread();
	if (!self->table.slots) { /* work on the table was abandoned */
		rows_settle_table(self->row);
		attach(self);
	}
	return self;
}

/*
 * A busy site does not stay behind an idle one: they change places, so that nearly all calls find
 * their slot at once. Everything between a key's home and its slot is taken, and keys are never
 * removed, so both are still found where they are put. The generation is odd meanwhile.
 */
static void swap_slots(struct record_thread *self, struct seg_slot *one, struct seg_slot *other)
{
	struct seg_slot *slots = self->table.slots;
	struct seg_slot kept;

	__atomic_store_n(&self->table.slots, NULL, __ATOMIC_RELEASE);
	rows_change_table(self->row);
	kept = *one;
	*one = *other;
	*other = kept;
	rows_changed_table(self->row);
	__atomic_store_n(&self->table.slots, slots, __ATOMIC_RELEASE);
}

/* A known site's slot, wherever it is; NULL: the site is new. */
static struct seg_slot *known_slot(struct record_thread *self, uint64_t key)
{
	struct seg_slot *slot, *home;

	if (!self->table.slots)
		return NULL;
	slot = table_find(&self->table, key);
	home = table_home(&self->table, key);
	if (!slot || slot->count < 2 * home->count + MUCH_BUSIER)
		return slot;
	if (self == &early || !enter((uintptr_t)__builtin_frame_address(0)))
		return slot;
	swap_slots(self, slot, home);
	leave();
	return home;
}

/* While the table is replaced, a handler on this thread must not count in the old one. */
static bool grow(struct record_thread *self)
{
	bool grown;

	if (self == &early || !lock_or_wait())
		return false;
	__atomic_store_n(&self->table.slots, NULL, __ATOMIC_RELEASE);
	grown = rows_grow_table(self->row);
	attach(self);
	segment_unlock();
	if (!grown)
		wait_some();
	return grown;
}

static bool has_room(const struct record_thread *self)
{
	return self->table.slots && table_has_room(&self->table, self->row->slots);
}

/* The slot of a site that may be new; NULL: no room. */
static struct seg_slot *slot_of(struct record_thread *self, uint64_t key)
{
	struct seg_slot *slot = self->table.slots ? table_find(&self->table, key) : NULL;
	struct seg_thread *row;
	struct table table;

	if (slot)
		return slot;
	if (!has_room(self) && !grow(self))
		return NULL;
	if (mode == MODE_ON)
		modules_note(key & SEG_KEY_ADDRESS);
	row = self->row;
	table = self->table;
	if (!row || !table.slots) /* a handler has forked, and this is the child */
		return NULL;
	slot = table_probe(&table, key);
	table_fill(slot, key);
	row->slots++;
	return slot;
}

/* Several writers are possible here, so these are atomic. */
static void tally(struct seg_thread *row, uint64_t key, const struct seg_tally *add)
{
	struct seg_tally *other = &row->other[(key >> SEG_KEY_SHIFT) % SEG_KINDS];

	__atomic_fetch_add(&other->count, add->count, __ATOMIC_RELAXED);
	__atomic_fetch_add(&other->bytes, add->bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&other->more, add->more, __ATOMIC_RELAXED);
}

/* The row for calls that have no slot: the thread's own, else the shared one. */
static struct seg_thread *row_of(const struct record_thread *self)
{
	if (self && self->row)
		return self->row;
	return mode == MODE_EARLY ? &early_row : rows_thread(SEG_ROW_SHARED);
}

static bool recording(void)
{
	return mode != MODE_OFF && !(mode == MODE_ON && process->ignored);
}

static void count(struct seg_slot *slot, const struct seg_tally *counts)
{
	platform_add(&slot->count, counts->count);
	platform_add(&slot->bytes, counts->bytes);
	platform_add(&slot->more, counts->more);
}

static struct seg_thread *add_new(uint64_t key, const struct seg_tally *counts)
{
	struct record_thread *self = NULL;
	struct seg_slot *slot = NULL;
	int saved = errno;

	if (mode == MODE_OFF || !next_ready)
		return NULL;
	if (enter((uintptr_t)__builtin_frame_address(0))) {
		self = current();
		slot = self ? slot_of(self, key) : NULL;
		leave();
	} else if (mine(record_self)) {
		self = record_self;
	}
	errno = saved;
	if (!recording())
		return NULL;
	if (slot)
		count(slot, counts);
	else
		tally(row_of(self), key, counts);
	return slot ? self->row : row_of(self);
}

/* Counts at the site; the row that it was counted in, or NULL: recording is off. */
static struct seg_thread *add(uint64_t key, const struct seg_tally *counts)
{
	struct seg_slot *slot = known_slot(record_self, key);

	if (!slot)
		return add_new(key, counts);
	count(slot, counts);
	return record_self->row;
}

void record_alloc_cold(uint64_t key, uint64_t size, uint64_t usable)
{
	struct seg_thread *row = add(key, &(struct seg_tally){1, size, usable});

	if (row)
		__atomic_fetch_add(&row->sizes[record_size_class(size)], 1, __ATOMIC_RELAXED);
}

void record_free_cold(uint64_t key, uint64_t usable)
{
	add(key, &(struct seg_tally){1, usable, 0});
}

void record_realloc(uintptr_t caller, const void *old, size_t old_usable, size_t size, void *block)
{
	size_t usable = next_usable(block);
	bool grown = usable > old_usable;
	bool moved = block != old;
	size_t copied = !moved ? 0 : old_usable < size ? old_usable : size;

	record_alloc(SEG_KIND_REALLOC, caller, size, block);
	add(record_key(SEG_KIND_REALLOC_FREE, caller), &(struct seg_tally){1, old_usable, moved});
	if (grown || copied)
		add(record_key(SEG_KIND_REALLOC_GROWN, caller),
		    &(struct seg_tally){grown, copied, 0});
}

void record_realloc_free(uintptr_t caller, size_t old_usable)
{
	add(record_key(SEG_KIND_REALLOC_FREE, caller), &(struct seg_tally){1, old_usable, 0});
}

/* Private memory: a page for the process, a state per possible thread row; touched as used. */
static bool take_private_memory(void)
{
	size_t size;
	char *memory;

	thread_capacity =
		(uint32_t)(segment->regions[SEG_THREADS].size / sizeof(struct seg_thread));
	size = THREADS_OFFSET + thread_capacity * sizeof(struct record_thread);
	memory = system_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (memory == MAP_FAILED)
		return false;
	if (system_madvise(memory, size, MADV_WIPEONFORK)) {
		system_unmap(memory, size);
		return false;
	}
	process = (struct record_process *)memory;
	threads = (struct record_thread *)(memory + THREADS_OFFSET);
	return true;
}

static void add_early(struct seg_thread *row)
{
	for (size_t i = 0; i < 1u << EARLY_LOG2; i++) {
		const struct seg_slot *slot = &early_slots[i];

		if (!slot->key)
			continue;
		modules_note(slot->key & SEG_KEY_ADDRESS);
		rows_add(row, slot->key, &(struct seg_tally){slot->count, slot->bytes, slot->more});
	}
	for (uint64_t kind = 1; kind < SEG_KINDS; kind++)
		if (early_row.other[kind].count)
			rows_add(row, kind << SEG_KEY_SHIFT, &early_row.other[kind]);
	for (unsigned i = 0; i < SEG_SIZE_CLASSES; i++)
		row->sizes[i] += early_row.sizes[i];
}

bool record_start(bool follow_forks)
{
	struct record_thread *self;

	if (!take_private_memory() || !rows_create() || !segment_lock())
		return false;
	follow = follow_forks;
	process->pid = segment->pid;
	record_self = &nobody;
	self = enroll();
	segment_unlock();
	if (!self)
		return false;
	add_early(self->row);
	attach(self);
	mode = MODE_ON;
	started = true;
	return true;
}

void record_off(void)
{
	record_self = &nobody;
	mode = MODE_OFF;
}

bool record_is_last_process(void)
{
	return mode == MODE_ON && process->enrolled && !rows_others_alive(process->index);
}

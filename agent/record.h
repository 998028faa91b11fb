/* SPDX-License-Identifier: MIT */
/*
 * record.h - exact counts per thread and call site: the hot path.
 *
 * Each thread writes the slots of its own table and the size classes of its own row, with plain
 * stores: no lock, no atomic read-modify-write, no syscall. An increment of memory is one
 * instruction, so a signal handler that allocates cannot get between its parts.
 *
 * What a thread needs for that is one pointer in TLS to a `struct record_thread` in private memory
 * that the kernel wipes in a forked child (MADV_WIPEONFORK). So one test of `table.slots` tells
 * that a thread is new, that it is the first one of a fork (also by a raw clone, also between two
 * atfork handlers), or that recording is off; all of these go to record.c.
 */
#pragma once

#include "agent/next.h"
#include "agent/table.h"

#if defined(__x86_64__)
#include "agent/platform/x86_64.h"
#elif defined(__aarch64__)
#include "agent/platform/aarch64.h"
#else
#error "heaptap knows x86-64 and aarch64"
#endif

struct record_thread {
	struct table table; /* slots NULL: not (yet) recording, go to the cold path */
	uint64_t *sizes;    /* row->sizes */
	struct seg_thread *row;
};

extern HT_HIDDEN HT_TLS struct record_thread *record_self;

/* The rest of record_alloc and record_free when the slot is elsewhere or missing. Keeps errno. */
HT_COLD void record_alloc_cold(uint64_t key, uint64_t size, uint64_t usable);
HT_COLD void record_free_cold(uint64_t key, uint64_t usable);

HT_INLINE uint64_t record_key(enum seg_kind kind, uintptr_t caller)
{
	return (uint64_t)kind << SEG_KEY_SHIFT | caller;
}

HT_INLINE unsigned record_size_class(uint64_t size)
{
	return 63u - (unsigned)__builtin_clzll(size | 1);
}

/* The site's slot where it is the first one looked at, as it nearly always is. */
HT_INLINE struct seg_slot *record_home(const struct record_thread *self, uint64_t key)
{
	struct table table = {.slots = *(struct seg_slot *volatile *)&self->table.slots};
	struct seg_slot *home;

	if (HT_UNLIKELY(!table.slots))
		return NULL;
	table.mask = self->table.mask;
	home = table_home(&table, key);
	return HT_LIKELY(home->key == key) ? home : NULL;
}

/* Counts a successful allocation. */
HT_INLINE void record_alloc(enum seg_kind kind, uintptr_t caller, size_t size, void *block)
{
	size_t usable = next_usable(block);
	struct record_thread *self = record_self;
	uint64_t key = record_key(kind, caller);
	/* Before the table is looked at: a signal handler may fork in between, and the child that
	 * goes on here finds *self wiped. */
	uint64_t *sizes = *(uint64_t *volatile *)&self->sizes;
	struct seg_slot *slot = record_home(self, key);

	if (HT_UNLIKELY(!slot)) {
		record_alloc_cold(key, size, usable);
		return;
	}
	platform_add(&slot->count, 1);
	platform_add(&slot->bytes, size);
	platform_add(&slot->more, usable);
	platform_add(&sizes[record_size_class(size)], 1);
}

/* Counts the free of a non-null block. Before the real free: afterwards another thread may have
 * the address already. */
HT_INLINE void record_free(enum seg_kind kind, uintptr_t caller, void *block)
{
	size_t usable = next_usable(block);
	uint64_t key = record_key(kind, caller);
	struct seg_slot *slot = record_home(record_self, key);

	if (HT_UNLIKELY(!slot)) {
		record_free_cold(key, usable);
		return;
	}
	platform_add(&slot->count, 1);
	platform_add(&slot->bytes, usable);
}

/* Counts a realloc of a non-null block that succeeded: `block` is its new address, `old_usable`
 * was taken before the call. */
void record_realloc(uintptr_t caller, const void *old, size_t old_usable, size_t size, void *block);
/* Counts realloc(p, 0) that freed. */
void record_realloc_free(uintptr_t caller, size_t old_usable);

/* Recording begins, in the calling thread with what it did before. False: no memory; off then.
 * follow_forks false: forked children are not recorded. */
bool record_start(bool follow_forks);
/* Nothing is or will be recorded: calls only pass through. */
void record_off(void);
/* True where this is the last process of the family that has recorded. */
bool record_is_last_process(void);

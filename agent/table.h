/* SPDX-License-Identifier: MIT */
/*
 * table.h - one thread's call-site table: 2^log2 slots, open addressing, linear probing.
 *
 * Written by its owner alone, so finding and adding need no atomics; readers of the segment live in
 * other processes. Never more than 5/8 full, so a probe for a missing key always ends.
 */
#pragma once

#include "agent/base.h"
#include "agent/segment.h"

#include <stdbool.h>
#include <stddef.h>

#define TABLE_HASH 0x9e3779b97f4a7c15ull /* 2^64 divided by the golden ratio */

/* The slot of `key`, or NULL. Hot: a multiplication, a shift and a compare when the first slot is
 * the right one. shift = 64 - log2. */
HT_INLINE struct seg_slot *table_find(struct seg_slot *slots, unsigned shift, uint64_t key)
{
	size_t at = (key * TABLE_HASH) >> shift;

	while (HT_UNLIKELY(slots[at].key != key)) {
		if (!slots[at].key)
			return NULL;
		at = (at + 1) & (~0ull >> shift);
	}
	return &slots[at];
}

/* The slot of `key`, or the empty slot where it belongs. */
static inline struct seg_slot *table_probe(struct seg_slot *slots, unsigned shift, uint64_t key)
{
	size_t at = (key * TABLE_HASH) >> shift;

	while (slots[at].key && slots[at].key != key)
		at = (at + 1) & (~0ull >> shift);
	return &slots[at];
}

static inline bool table_has_room(uint64_t used, unsigned log2)
{
	return used < (5ull << log2) / 8;
}

/* Fills the empty slot that table_probe() found. The key comes last: a reader, or a signal handler
 * on this thread, sees the slot empty or whole. */
static inline void table_fill(struct seg_slot *slot, uint64_t key)
{
	slot->count = 0;
	slot->bytes = 0;
	slot->more = 0;
	__atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
}

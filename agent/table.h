/* SPDX-License-Identifier: MIT */
/*
 * table.h - one thread's call-site table: 2^log2 slots, open addressing, linear probing.
 *
 * Written by its owner alone, so finding and adding need no atomics; readers of the segment live in
 * other processes. Never more than half full: most sites are found in the first slot, and a
 * probe for a missing key always ends.
 */
#pragma once

#include "agent/base.h"
#include "agent/segment.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The hash is bits 32 and up of a product with an odd 32-bit constant (2^31 divided by the golden
 * ratio, rounded), which costs one instruction; shifted so that the mask makes it a byte offset.
 * The kind in the key's top byte does not reach those bits: the three keys of a realloc lie side by
 * side.
 */
#define TABLE_HASH	 0x4f1bbcdd
#define TABLE_HASH_SHIFT 27

struct table {
	struct seg_slot *slots; /* NULL: none */
	uint64_t mask;		/* of byte offsets of slots: (2^log2 - 1) * 32 */
};

_Static_assert(sizeof(struct seg_slot) == 1u << (32 - TABLE_HASH_SHIFT), "a slot's offset");

static inline uint64_t table_mask(unsigned log2)
{
	return ((1ull << log2) - 1) * sizeof(struct seg_slot);
}

/* Where `key` belongs if nothing else is there. */
HT_INLINE struct seg_slot *table_home(const struct table *table, uint64_t key)
{
	uint64_t offset = ((key * TABLE_HASH) >> TABLE_HASH_SHIFT) & table->mask;

	return (struct seg_slot *)((char *)table->slots + offset);
}

/* The slot of `key`, or the empty slot where it belongs. */
static inline struct seg_slot *table_probe(const struct table *table, uint64_t key)
{
	struct seg_slot *slot = table_home(table, key);
	struct seg_slot *last = (struct seg_slot *)((char *)table->slots + table->mask);

	while (slot->key && slot->key != key)
		slot = slot == last ? table->slots : slot + 1;
	return slot;
}

/* The slot of `key`, or NULL. */
static inline struct seg_slot *table_find(const struct table *table, uint64_t key)
{
	struct seg_slot *slot = table_probe(table, key);

	return slot->key ? slot : NULL;
}

static inline bool table_has_room(const struct table *table, uint64_t used)
{
	return used <= table->mask / sizeof(struct seg_slot) / 2;
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

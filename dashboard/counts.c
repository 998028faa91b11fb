/* SPDX-License-Identifier: MIT */
/*
 * counts.c - see counts.h. The rules are those of enum seg_kind.
 */
#include "dashboard/counts.h"

enum { FIELDS = sizeof(struct counts) / sizeof(uint64_t) };

_Static_assert(sizeof(struct counts) == 9 * sizeof(uint64_t), "counts are nothing but uint64_t");

static void add_to(uint64_t *sum, uint64_t add)
{
	if (__builtin_add_overflow(*sum, add, sum))
		*sum = UINT64_MAX;
}

void counts_add(struct counts *sum, const struct counts *add)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)add;

	for (int i = 0; i < FIELDS; i++)
		add_to(&to[i], from[i]);
}

void counts_clamp(struct counts *base, const struct counts *total)
{
	uint64_t *low = (uint64_t *)base;
	const uint64_t *high = (const uint64_t *)total;

	for (int i = 0; i < FIELDS; i++)
		if (low[i] > high[i])
			low[i] = high[i];
}

void counts_add_slot(struct counts *sum, unsigned kind, const struct seg_slot *slot)
{
	switch (kind) {
	case SEG_KIND_REALLOC:
		add_to(&sum->realloc_count, slot->count);
		/* fall through */
	case SEG_KIND_MALLOC:
	case SEG_KIND_CALLOC:
	case SEG_KIND_ALIGNED:
	case SEG_KIND_NEW:
	case SEG_KIND_NEW_ARRAY:
	case SEG_KIND_REALLOC_NULL:
		add_to(&sum->alloc_count, slot->count);
		add_to(&sum->alloc_bytes, slot->bytes);
		add_to(&sum->usable_bytes, slot->more);
		break;
	case SEG_KIND_REALLOC_FREE:
		add_to(&sum->realloc_moved, slot->more);
		/* fall through */
	case SEG_KIND_FREE:
	case SEG_KIND_DELETE:
	case SEG_KIND_DELETE_ARRAY:
		add_to(&sum->free_count, slot->count);
		add_to(&sum->free_bytes, slot->bytes);
		break;
	case SEG_KIND_REALLOC_GROWN:
		add_to(&sum->realloc_grown, slot->count);
		add_to(&sum->realloc_copied_bytes, slot->bytes);
		break;
	default:
		break;
	}
}

unsigned counts_site_kind(unsigned kind)
{
	switch (kind) {
	case SEG_KIND_REALLOC_NULL:
	case SEG_KIND_REALLOC:
	case SEG_KIND_REALLOC_FREE:
	case SEG_KIND_REALLOC_GROWN:
		return SEG_KIND_REALLOC;
	default:
		return kind < SEG_KIND_REALLOC_GROWN ? kind : SEG_KIND_NONE;
	}
}

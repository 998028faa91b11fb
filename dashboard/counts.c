/* SPDX-License-Identifier: MIT */
/*
 * counts.c - see counts.h. The rules are those of enum seg_kind.
 */
#include "dashboard/counts.h"

/* How many fields come before that of a group's end. */
enum {
	ALLOC_FIELDS = offsetof(struct counts, free_count) / sizeof(uint64_t),
	FREE_FIELDS = offsetof(struct counts, realloc_count) / sizeof(uint64_t),
	FIELDS = sizeof(struct counts) / sizeof(uint64_t),
};

_Static_assert(ALLOC_FIELDS == 3 && FREE_FIELDS == 5 && FIELDS == 9, "the order is relied on");

static void add_to(uint64_t *sum, uint64_t add)
{
	if (__builtin_add_overflow(*sum, add, sum))
		*sum = UINT64_MAX;
}

static void add_fields(struct counts *sum, const struct counts *add, int from, int to)
{
	uint64_t *left = (uint64_t *)sum;
	const uint64_t *right = (const uint64_t *)add;

	for (int i = from; i < to; i++)
		add_to(&left[i], right[i]);
}

void counts_add(struct counts *sum, const struct counts *add)
{
	add_fields(sum, add, 0, FIELDS);
}

static int first_field(unsigned kind)
{
	return kind >= SEG_KIND_FREE ? ALLOC_FIELDS : 0;
}

static int last_field(unsigned kind)
{
	if (kind == SEG_KIND_REALLOC)
		return FIELDS;
	return kind >= SEG_KIND_FREE ? FREE_FIELDS : ALLOC_FIELDS;
}

void counts_add_of(struct counts *sum, const struct counts *add, unsigned kind)
{
	add_fields(sum, add, first_field(kind), last_field(kind));
}

void counts_clamp_of(struct counts *base, const struct counts *total, unsigned kind)
{
	uint64_t *low = (uint64_t *)base;
	const uint64_t *high = (const uint64_t *)total;

	for (int i = first_field(kind); i < last_field(kind); i++)
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

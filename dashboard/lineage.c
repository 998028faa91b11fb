/* SPDX-License-Identifier: MIT */
/*
 * lineage.c - see lineage.h. Linear in threads and processes.
 */
#include "dashboard/lineage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SERIALS_MIN = 64 };

static uint64_t hash64(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15u;
	return value ^ value >> 32;
}

static size_t power_above(size_t count)
{
	size_t size = SERIALS_MIN;

	while (size < count)
		size *= 2;
	return size;
}

static bool row_is_family_wide(const struct snapshot_thread *row)
{
	return row->row <= SEG_ROW_ENDED || row->state == SEG_THREAD_SHARED;
}

const struct seg_process *lineage_process(const struct snapshot *snapshot,
					  const struct snapshot_thread *row)
{
	if (row_is_family_wide(row) || row->process >= snapshot->process_count ||
	    snapshot->processes[row->process].state != SEG_PROCESS_USED)
		return NULL;
	return &snapshot->processes[row->process];
}

enum thread_role lineage_role(const struct snapshot_thread *row)
{
	if (row->state == SEG_THREAD_SHARED || row->row == SEG_ROW_SHARED)
		return THREAD_SHARED;
	if (row->state == SEG_THREAD_ENDED || row->row == SEG_ROW_ENDED)
		return THREAD_ENDED;
	return THREAD_ONE;
}

static uint32_t *serial_slot(const struct lineage *links, const struct snapshot *now,
			     uint64_t serial)
{
	size_t mask = links->serials_size - 1;
	size_t at = hash64(serial) & mask;

	while (links->serials[at] != LINEAGE_NONE &&
	       now->threads[links->serials[at]].serial != serial)
		at = (at + 1) & mask;
	return &links->serials[at];
}

static void note_threads(struct lineage *links, const struct snapshot *now)
{
	for (size_t i = 0; i < now->thread_count; i++) {
		const struct snapshot_thread *row = &now->threads[i];

		if (lineage_role(row) == THREAD_ONE)
			*serial_slot(links, now, row->serial) = (uint32_t)i;
		else if (lineage_role(row) == THREAD_ENDED && lineage_process(now, row))
			links->ended[row->process] = (uint32_t)i;
	}
}

static uint32_t find_row(const struct snapshot *now, uint32_t row)
{
	for (size_t i = 0; i < now->thread_count && now->threads[i].row <= row; i++)
		if (now->threads[i].row == row)
			return (uint32_t)i;
	return LINEAGE_NONE;
}

/* Which thread of now holds the counts that `row` had in the base; LINEAGE_NONE where none does. */
static uint32_t heir(const struct lineage *links, const struct snapshot *now,
		     const struct snapshot *base, const struct snapshot_thread *row)
{
	const struct seg_process *then = lineage_process(base, row);
	uint32_t found = LINEAGE_NONE;

	if (lineage_role(row) == THREAD_SHARED)
		return find_row(now, SEG_ROW_SHARED);
	if (lineage_role(row) == THREAD_ONE)
		found = *serial_slot(links, now, row->serial);
	if (found == LINEAGE_NONE && then && row->process < now->process_count &&
	    now->processes[row->process].state == SEG_PROCESS_USED &&
	    now->processes[row->process].generation == then->generation)
		found = links->ended[row->process];
	return found != LINEAGE_NONE ? found : find_row(now, SEG_ROW_ENDED);
}

static void link_threads(struct lineage *links, const struct snapshot *now,
			 const struct snapshot *base)
{
	note_threads(links, now);
	for (size_t i = 0; i < base->thread_count; i++) {
		uint32_t to = heir(links, now, base, &base->threads[i]);

		if (to == LINEAGE_NONE)
			continue;
		links->next[i] = links->head[to];
		links->head[to] = (uint32_t)i;
	}
}

int lineage_build(struct lineage *links, const struct snapshot *now, const struct snapshot *base)
{
	size_t serials_size = power_above(now->thread_count * 2);
	size_t base_count = base ? base->thread_count : 0;
	size_t count = now->thread_count + base_count + serials_size + now->process_count;
	uint32_t *memory = snapshot_grow(links->memory, &links->room, count, sizeof(*memory));

	if (!memory)
		return -ENOMEM;
	memset(memory, 0xff, count * sizeof(*memory)); /* all LINEAGE_NONE */
	links->memory = memory;
	links->head = memory;
	links->next = links->head + now->thread_count;
	links->serials = links->next + base_count;
	links->serials_size = serials_size;
	links->ended = links->serials + serials_size;
	if (base)
		link_threads(links, now, base);
	return 0;
}

void lineage_free(struct lineage *links)
{
	free(links->memory);
	*links = (struct lineage){0};
}

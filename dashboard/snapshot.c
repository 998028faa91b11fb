/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - memory of a snapshot: grows by half, so that a snapshot that is filled again every
 * second stops allocating after the first few.
 */
#include "dashboard/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *snapshot_grow(void *array, size_t *room, size_t count, size_t size)
{
	size_t wanted = *room + *room / 2;
	void *grown;

	if (array && count <= *room)
		return array;
	if (wanted < count || wanted == 0)
		wanted = count ? count : 1;
	grown = reallocarray(array, wanted, size);
	if (grown)
		*room = wanted;
	return grown;
}

int snapshot_add_slot(struct snapshot *snapshot, const struct seg_slot *slot)
{
	uint64_t kind = slot->key >> SEG_KEY_SHIFT;
	struct seg_slot *slots;

	if (slot->key == 0)
		return 0;
	if (kind == SEG_KIND_NONE || kind > SEG_KIND_REALLOC_GROWN) {
		snapshot->invalid++;
		return 0;
	}
	slots = snapshot_grow(snapshot->slots, &snapshot->slot_room, snapshot->slot_count + 1,
			      sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	snapshot->slots = slots;
	slots[snapshot->slot_count++] = *slot;
	return 0;
}

int snapshot_add_other(struct snapshot *snapshot, const struct seg_thread *row)
{
	for (unsigned kind = SEG_KIND_NONE + 1; kind <= SEG_KIND_REALLOC_GROWN; kind++) {
		const struct seg_tally *tally = &row->other[kind];
		struct seg_slot slot = {(uint64_t)kind << SEG_KEY_SHIFT, tally->count, tally->bytes,
					tally->more};
		int err = 0;

		if (tally->count | tally->bytes | tally->more)
			err = snapshot_add_slot(snapshot, &slot);
		if (err)
			return err;
	}
	return 0;
}

int snapshot_make_thread_room(struct snapshot *snapshot, size_t count)
{
	void *sizes, *threads;

	sizes = snapshot_grow(snapshot->sizes, &snapshot->sizes_room, count,
			      sizeof(*snapshot->sizes));
	if (!sizes)
		return -ENOMEM;
	snapshot->sizes = sizes;
	threads = snapshot_grow(snapshot->threads, &snapshot->thread_room, count,
				sizeof(*snapshot->threads));
	if (!threads)
		return -ENOMEM;
	snapshot->threads = threads;
	return 0;
}

void snapshot_trim(struct snapshot *snapshot)
{
	free(snapshot->sizes);
	free(snapshot->modules);
	snapshot->sizes = NULL;
	snapshot->modules = NULL;
	snapshot->sizes_room = 0;
	snapshot->module_count = 0;
	snapshot->module_room = 0;
}

void snapshot_free(struct snapshot *snapshot)
{
	snapshot_trim(snapshot);
	free(snapshot->processes);
	free(snapshot->threads);
	free(snapshot->slots);
	*snapshot = (struct snapshot){0};
}

const struct seg_slot *snapshot_slots(const struct snapshot *snapshot,
				      const struct snapshot_thread *thread)
{
	return thread->slot_count ? snapshot->slots + thread->first_slot : NULL;
}

void snapshot_string(char *out, size_t room, const char *text, size_t size)
{
	size_t length = strnlen(text, size);

	if (length >= room)
		length = room - 1;
	memcpy(out, text, length);
	out[length] = '\0';
}

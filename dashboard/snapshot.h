/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - what a segment held at one moment, without its empty slots.
 *
 * Filled by segment_reader; the model is made of the newest one and of an older one, for the
 * rates. Memory is kept for the next use until snapshot_trim or snapshot_free.
 */
#pragma once

#include "agent/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snapshot_thread {
	uint64_t serial;
	uint32_t row;
	uint32_t process;    /* index into the processes; may be out of range: nothing is known */
	int32_t tid;	     /* 0 where unknown */
	uint8_t state;	     /* enum seg_thread_state, never FREE */
	bool live;	     /* state USED and the thread exists */
	uint32_t first_slot; /* its part of snapshot.slots */
	uint32_t slot_count;
};

/* Everything in it is checked except `process`, the strings of `header` (use snapshot_string) and
 * the values of counters. `slots` holds no empty ones; calls whose site is not known (`other`) are
 * slots with address 0. */
struct snapshot {
	uint64_t taken_ns;	/* CLOCK_REALTIME */
	uint64_t taken_mono_ns; /* CLOCK_MONOTONIC */
	struct seg_header header;
	struct seg_process *processes;
	size_t process_count;
	struct snapshot_thread *threads;
	uint64_t (*sizes)[SEG_SIZE_CLASSES]; /* beside `threads`; NULL after snapshot_trim */
	size_t thread_count;
	struct seg_slot *slots;
	size_t slot_count;
	struct seg_module *modules; /* paths are NUL-terminated; NULL after snapshot_trim */
	size_t module_count;
	uint64_t memory_bytes; /* memory that stands behind the file */
	uint64_t invalid;      /* records left out because they make no sense */
	bool torn; /* counts moved all the while: some may be missing or counted twice */
	size_t process_room, thread_room, sizes_room, slot_room, module_room; /* allocated */
};

void snapshot_trim(struct snapshot *snapshot); /* gives back sizes and modules */
void snapshot_free(struct snapshot *snapshot);

/* The array, moved where it had to grow to hold `count` elements; its first ones are kept. NULL:
 * no memory, and the array is as before. */
void *snapshot_grow(void *array, size_t *room, size_t count, size_t size);

int snapshot_make_thread_room(struct snapshot *snapshot, size_t count); /* 0 or -ENOMEM */

/* Appends a slot if it is used; one of an unknown kind is counted as invalid. 0 or -ENOMEM. */
int snapshot_add_slot(struct snapshot *snapshot, const struct seg_slot *slot);

/* Appends the tallies of a row as slots with address 0. 0 or -ENOMEM. */
int snapshot_add_other(struct snapshot *snapshot, const struct seg_thread *row);

/* The slots of one of its threads; NULL where there are none. */
const struct seg_slot *snapshot_slots(const struct snapshot *snapshot,
				      const struct snapshot_thread *thread);

/* Copies a string of the segment that may lack its NUL; cuts where `room` is too small. */
void snapshot_string(char *out, size_t room, const char *text, size_t size);

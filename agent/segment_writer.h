/* SPDX-License-Identifier: MIT */
/*
 * segment_writer.h - the segment's file, memory and lock. What is in its rows is not known here.
 *
 * segment_create() at start-up, one thread; the rest from any thread and any process of the
 * family. Functions marked (locked) need segment_lock(). No function waits without end, allocates
 * with malloc, or makes a syscall other than madvise and futex after segment_create().
 */
#pragma once

#include "agent/config.h"
#include "agent/segment.h"

#include <stdbool.h>
#include <stddef.h>

extern struct seg_header *segment; /* NULL until segment_create() has succeeded */

/*
 * Makes "<dir>/<pid>-<start>.seg" and maps it. `dir` is the usable directory, absolute. Returns 0
 * or -errno; then there is no segment and, where the directory could at least take a name, an
 * empty file "<pid>-<start>.failed.<ERRNO>" says so.
 */
int segment_create(const struct config *config, const char *dir);

/* The segment is complete: readers may look at it from now on. */
void segment_publish(void);

static inline void *segment_at(uint64_t offset)
{
	return (char *)segment + offset;
}

/*
 * Taken by whoever changes rows, regions or lists. Returns false when it is not to be had: it is
 * held by a handler's own thread, or by a process that was stopped while it held it. The caller
 * then does without. The holder's death frees it.
 */
bool segment_lock(void);
void segment_unlock(void);
/* After a longjmp out of what the calling thread did under the lock: it may hold it still. */
void segment_break_lock(void);

/* (locked) Makes `bytes` of the region usable, counted from its start. False: no room, counted. */
bool segment_reserve(enum seg_region_id region, uint64_t bytes);

/* (locked) A zeroed table of 2^log2 slots; its offset, or 0: no room. */
uint64_t segment_take_table(unsigned log2);
/* (locked) Gives a table back. */
void segment_give_table(uint64_t offset, unsigned log2);

/* Counts a loss; any thread, no lock. */
static inline void segment_drop(enum seg_drop what)
{
	__atomic_fetch_add(&segment->dropped[what], 1, __ATOMIC_RELAXED);
}

/* SPDX-License-Identifier: MIT */
/*
 * lineage.h - which thread of a snapshot holds the counts that a thread of an older one had.
 *
 * The base of a thread's rate is what the same thread (by serial) had before. Rows of ended threads
 * are folded into the ended row of their process, and ended processes into the family's: so the
 * base of an ended row is its own plus that of all threads that were folded into it since, else
 * its rate would jump by their whole life.
 */
#pragma once

#include "dashboard/model.h"
#include "dashboard/snapshot.h"

#define LINEAGE_NONE UINT32_MAX

/* Lists in arrays; all of them lie in `memory`. Zeroed at first use, reused afterwards. */
struct lineage {
	uint32_t *head;	     /* by thread of now: its first thread of the base, or NONE */
	uint32_t *next;	     /* by thread of the base: the next one in the same list, or NONE */
	uint32_t *serials;   /* hash of serial -> thread of now, or NONE */
	size_t serials_size; /* a power of two */
	uint32_t *ended;     /* by process row: thread of now that is its ended row, or NONE */
	uint32_t *memory;
	size_t room;
};

/* `base` may be NULL: then all lists are empty. 0 or -ENOMEM. */
int lineage_build(struct lineage *links, const struct snapshot *now, const struct snapshot *base);
void lineage_free(struct lineage *links);

enum thread_role lineage_role(const struct snapshot_thread *row);

/* The process of a row; NULL for the rows of the whole family and where it is not known. */
const struct seg_process *lineage_process(const struct snapshot *snapshot,
					  const struct snapshot_thread *row);

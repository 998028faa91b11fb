/* SPDX-License-Identifier: MIT */
/*
 * model_build.h - snapshots of one segment -> what the model says of that family.
 *
 * A function of its arguments: names, /proc and symbols are filled in by others. It is on the
 * path of every request, so it is linear in slots and threads and reuses its memory.
 */
#pragma once

#include "dashboard/lineage.h"
#include "dashboard/model.h"
#include "dashboard/snapshot.h"

/* Owns the arrays of `family`, and what is needed to build them again. Zeroed at first use. */
struct family_store {
	struct family family;
	size_t process_room, thread_room, site_room, cell_room;
	struct site_entry {   /* hash of (address, kind) -> site; a power of two of them */
		uint64_t key; /* as a slot's, with the kind of the site; 0: empty */
		uint32_t site;
	} * index;
	size_t index_size;
	uint32_t *marks; /* by site: its cell in the thread at hand, + 1 */
	size_t mark_room;
	uint32_t *slot_cells; /* by slot of the thread at hand: its cell */
	size_t slot_room;
	struct lineage lineage;
};

/*
 * Fills store->family with counts, rows and strings of the segment. `base` is an older snapshot
 * of the same segment (may be trimmed), or NULL: then the bases are 0 and so is window_ns. Names,
 * symbols, rss_bytes, problems, torn_reads, id and `ended` of the family are left as they are; a
 * process that has never had a thread row is said to live. 0 or -ENOMEM.
 */
int model_build(struct family_store *store, const struct snapshot *now,
		const struct snapshot *base);

/* Puts living processes first and counts them; for after `ended` of some was corrected. */
void model_order_processes(struct family *family);

void family_store_free(struct family_store *store);

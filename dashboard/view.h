/* SPDX-License-Identifier: MIT */
/*
 * view.h - the part of a model that one answer shows: which rows, in which order, over which time.
 *
 * Pure functions of a family; what they return points into it and lives as long as it does. The
 * order is total (ties are broken down to the address), so that a page does not jump between two
 * polls.
 */
#pragma once

#include "dashboard/model.h"

enum view_since { VIEW_SECOND, VIEW_START };

enum view_state { VIEW_ALL, VIEW_LIVE, VIEW_ENDED };

/* One list for sites and threads; a route allows the part that makes sense for it. */
enum view_sort {
	VIEW_ALLOCS_PER_S,
	VIEW_BYTES_PER_S,
	VIEW_FREES_PER_S,
	VIEW_REALLOCS_PER_S,
	VIEW_ALLOC_COUNT,
	VIEW_ALLOC_BYTES,
	VIEW_USABLE_BYTES,
	VIEW_FREE_COUNT,
	VIEW_FREE_BYTES,
	VIEW_REALLOC_COUNT,
	VIEW_REALLOC_COPIED_BYTES,
	VIEW_MEAN_BYTES,
	VIEW_NET_BYTES,
	VIEW_TID,
	VIEW_NAME
};

struct view_options {
	enum view_since since;
	enum view_sort sort;
	bool ascending;
	size_t limit;
	const char *filter; /* NULL: none */
	uint32_t kinds;	    /* bit 1 << enum seg_kind */
	enum view_state state;
	const struct thread *thread; /* NULL: all */
	int32_t member;		     /* pid of one process; 0: all */
};

/* The time that rates are over: base counts of it are `base`, or zero for VIEW_START. */
uint64_t view_window_ns(const struct family *family, uint64_t now_ns, enum view_since since);

struct site_row {
	const struct site *site;
	struct counts total; /* narrowed to a thread or process where the options say so */
	struct counts base;
	uint64_t key;
};

struct site_view {
	size_t total; /* sites in the family, or of the thread or process */
	size_t matched;
	struct counts sum_total; /* over the matched */
	struct counts sum_base;
	struct site_row *rows; /* malloc'd; min(matched, limit) of them */
	size_t row_count;
};

/* 0 or -ENOMEM. */
int view_sites(const struct family *family, const struct view_options *options,
	       struct site_view *out);
void view_sites_destroy(struct site_view *view);

struct thread_row {
	const struct thread *thread;
	uint64_t key;
};

struct thread_view {
	size_t total;
	size_t matched;
	struct thread_row *rows; /* malloc'd */
	size_t row_count;
};

int view_threads(const struct family *family, const struct view_options *options,
		 struct thread_view *out);
void view_threads_destroy(struct thread_view *view);

/* The thread with that tid (of process `member`, unless 0): a living one first, else the one that
 * came last. NULL where there is none. */
const struct thread *view_find_thread(const struct family *family, int32_t tid, int32_t member);

/* What to show for a site: "function+0x12", else "module+0x12", else "0x55d0…". Allocated; NULL
 * where memory was refused. */
char *view_site_name(const struct site *site);

/* Last part of a path. */
const char *view_base_name(const char *path);

/* SPDX-License-Identifier: MIT */
/*
 * view.c - selects and sorts the rows of an answer; see view.h.
 *
 * All rows of one answer share a window, so that they are sorted by the exact difference of two
 * counters where a rate is asked for: no rounding decides about the order.
 */
#include "dashboard/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t view_window_ns(const struct family *family, uint64_t now_ns, enum view_since since)
{
	if (since == VIEW_SECOND)
		return family->window_ns;
	return now_ns > family->started_ns ? now_ns - family->started_ns : 0;
}

const char *view_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

char *view_site_name(const struct site *site)
{
	char *name = NULL;
	int length;

	if (site->address == 0)
		return strdup("(site not known)");
	if (site->function)
		length = asprintf(&name, "%s+0x%llx", site->function,
				  (unsigned long long)site->function_offset);
	else if (site->module)
		length = asprintf(&name, "%s+0x%llx", view_base_name(site->module),
				  (unsigned long long)site->module_offset);
	else
		length = asprintf(&name, "0x%llx", (unsigned long long)site->address);
	return length < 0 ? NULL : name;
}

static void add_counts(struct counts *sum, const struct counts *part)
{
	sum->alloc_count += part->alloc_count;
	sum->alloc_bytes += part->alloc_bytes;
	sum->usable_bytes += part->usable_bytes;
	sum->free_count += part->free_count;
	sum->free_bytes += part->free_bytes;
	sum->realloc_count += part->realloc_count;
	sum->realloc_moved += part->realloc_moved;
	sum->realloc_grown += part->realloc_grown;
	sum->realloc_copied_bytes += part->realloc_copied_bytes;
}

static uint64_t mean_key(const struct counts *total)
{
	double mean =
		total->alloc_count ? (double)total->alloc_bytes / (double)total->alloc_count : 0.0;
	uint64_t key;

	memcpy(&key, &mean, sizeof key); /* doubles >= 0 are ordered as their bits are */
	return key;
}

static uint64_t signed_key(uint64_t difference)
{
	return difference ^ 1ull << 63;
}

static uint64_t sort_key(enum view_sort sort, const struct counts *total, const struct counts *base)
{
	switch (sort) {
	case VIEW_ALLOCS_PER_S:
		return total->alloc_count - base->alloc_count;
	case VIEW_BYTES_PER_S:
		return total->alloc_bytes - base->alloc_bytes;
	case VIEW_FREES_PER_S:
		return total->free_count - base->free_count;
	case VIEW_REALLOCS_PER_S:
		return total->realloc_count - base->realloc_count;
	case VIEW_ALLOC_COUNT:
		return total->alloc_count;
	case VIEW_ALLOC_BYTES:
		return total->alloc_bytes;
	case VIEW_USABLE_BYTES:
		return total->usable_bytes;
	case VIEW_FREE_COUNT:
		return total->free_count;
	case VIEW_FREE_BYTES:
		return total->free_bytes;
	case VIEW_REALLOC_COUNT:
		return total->realloc_count;
	case VIEW_REALLOC_COPIED_BYTES:
		return total->realloc_copied_bytes;
	case VIEW_MEAN_BYTES:
		return mean_key(total);
	case VIEW_NET_BYTES:
		return signed_key(total->usable_bytes - total->free_bytes);
	case VIEW_TID:
	case VIEW_NAME:
		break;
	}
	return 0;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_site_name(const struct site *a, const struct site *b)
{
	const char *first = a->function ? a->function : a->module ? view_base_name(a->module) : "";
	const char *second = b->function ? b->function : b->module ? view_base_name(b->module) : "";

	return strcmp(first, second);
}

static int compare_sites(const void *left, const void *right, void *context)
{
	const struct site_row *a = left, *b = right;
	const struct view_options *options = context;
	int order = options->sort == VIEW_NAME ? compare_site_name(a->site, b->site)
					       : compare_u64(a->key, b->key);

	if (order)
		return options->ascending ? order : -order;
	order = -compare_u64(a->total.alloc_count, b->total.alloc_count);
	if (order == 0)
		order = compare_u64(a->site->address, b->site->address);
	return order ? order : (a->site->kind > b->site->kind) - (a->site->kind < b->site->kind);
}

static bool contains(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

static bool site_matches(const struct site *site, const struct view_options *options)
{
	bool found;
	char *name;

	if (!(options->kinds & 1u << site->kind))
		return false;
	if (!options->filter || contains(site->function, options->filter) ||
	    contains(site->module, options->filter))
		return true;
	name = view_site_name(site);
	found = contains(name, options->filter);
	free(name);
	return found;
}

static bool in_scope(const struct thread *thread, const struct view_options *options)
{
	if (options->thread)
		return thread == options->thread;
	return options->member == 0 || thread->pid == options->member;
}

/* The sites of a thread or process: the sum over its cells. `rows` has one per site. */
static void sum_cells(const struct family *family, const struct view_options *options,
		      struct site_row *rows)
{
	for (size_t t = 0; t < family->thread_count; t++) {
		const struct thread *thread = &family->threads[t];

		if (!in_scope(thread, options))
			continue;
		for (size_t c = 0; c < thread->cell_count; c++) {
			const struct cell *cell = &family->cells[thread->first_cell + c];
			struct site_row *row = &rows[cell->site];

			row->site = &family->sites[cell->site];
			add_counts(&row->total, &cell->total);
			add_counts(&row->base, &cell->base);
		}
	}
}

static void whole_family(const struct family *family, struct site_row *rows)
{
	for (size_t i = 0; i < family->site_count; i++) {
		rows[i].site = &family->sites[i];
		rows[i].total = family->sites[i].total;
		rows[i].base = family->sites[i].base;
	}
}

/* Moves the rows to be shown to the front and adds them up. */
static void select_rows(const struct family *family, const struct view_options *options,
			struct site_view *view)
{
	for (size_t i = 0; i < family->site_count; i++) {
		struct site_row row = view->rows[i];

		if (!row.site)
			continue;
		view->total++;
		if (!site_matches(row.site, options))
			continue;
		if (options->since == VIEW_START)
			row.base = (struct counts){0};
		row.key = sort_key(options->sort, &row.total, &row.base);
		add_counts(&view->sum_total, &row.total);
		add_counts(&view->sum_base, &row.base);
		view->rows[view->matched++] = row;
	}
}

int view_sites(const struct family *family, const struct view_options *options,
	       struct site_view *out)
{
	struct site_view view = {0};

	view.rows = calloc(family->site_count + 1, sizeof *view.rows);
	if (!view.rows)
		return -ENOMEM;
	if (options->thread || options->member)
		sum_cells(family, options, view.rows);
	else
		whole_family(family, view.rows);
	select_rows(family, options, &view);
	qsort_r(view.rows, view.matched, sizeof *view.rows, compare_sites, (void *)options);
	view.row_count = view.matched < options->limit ? view.matched : options->limit;
	*out = view;
	return 0;
}

void view_sites_destroy(struct site_view *view)
{
	free(view->rows);
	view->rows = NULL;
}

static int compare_threads(const void *left, const void *right, void *context)
{
	const struct thread_row *a = left, *b = right;
	const struct view_options *options = context;
	int order = options->sort == VIEW_NAME ? strcmp(a->thread->name, b->thread->name)
					       : compare_u64(a->key, b->key);

	if (order)
		return options->ascending ? order : -order;
	order = -compare_u64(a->thread->total.alloc_count, b->thread->total.alloc_count);
	if (order == 0)
		order = (a->thread->tid > b->thread->tid) - (a->thread->tid < b->thread->tid);
	if (order == 0)
		order = (a->thread->pid > b->thread->pid) - (a->thread->pid < b->thread->pid);
	return order ? order : compare_u64(a->thread->serial, b->thread->serial);
}

static bool thread_matches(const struct thread *thread, const struct view_options *options)
{
	if (options->state != VIEW_ALL && thread->ended != (options->state == VIEW_ENDED))
		return false;
	return !options->filter || contains(thread->name, options->filter);
}

static uint64_t thread_key(const struct thread *thread, const struct view_options *options)
{
	static const struct counts nothing;

	if (options->sort == VIEW_TID)
		return (uint64_t)thread->tid;
	return sort_key(options->sort, &thread->total,
			options->since == VIEW_START ? &nothing : &thread->base);
}

int view_threads(const struct family *family, const struct view_options *options,
		 struct thread_view *out)
{
	struct thread_view view = {0};

	view.rows = calloc(family->thread_count + 1, sizeof *view.rows);
	if (!view.rows)
		return -ENOMEM;
	for (size_t i = 0; i < family->thread_count; i++) {
		const struct thread *thread = &family->threads[i];

		if (!in_scope(thread, options))
			continue;
		view.total++;
		if (thread_matches(thread, options))
			view.rows[view.matched++] =
				(struct thread_row){thread, thread_key(thread, options)};
	}
	qsort_r(view.rows, view.matched, sizeof *view.rows, compare_threads, (void *)options);
	view.row_count = view.matched < options->limit ? view.matched : options->limit;
	*out = view;
	return 0;
}

void view_threads_destroy(struct thread_view *view)
{
	free(view->rows);
	view->rows = NULL;
}

const struct thread *view_find_thread(const struct family *family, int32_t tid, int32_t member)
{
	const struct thread *found = NULL;

	for (size_t i = 0; i < family->thread_count; i++) {
		const struct thread *thread = &family->threads[i];

		if (thread->role != THREAD_ONE || thread->tid != tid ||
		    (member && thread->pid != member))
			continue;
		if (!found || (found->ended && !thread->ended) ||
		    (found->ended == thread->ended && thread->serial > found->serial))
			found = thread;
	}
	return found;
}

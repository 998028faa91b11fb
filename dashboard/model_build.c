/* SPDX-License-Identifier: MIT */
/*
 * model_build.c - sums slots up to cells, cells to sites and threads, threads to processes and the
 * family. Nothing is counted twice and nothing left out, so every level has the same sum.
 */
#include "dashboard/model_build.h"
#include "dashboard/counts.h"
#include "dashboard/lineage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	INDEX_MIN = 256,
	AHEAD_MAX = 8, /* sites that are new since the base are few */
};

/* --- sites --- */

/* A slot's key with the kind that its site has. */
static uint64_t site_key(uint64_t slot_key)
{
	uint64_t kind = counts_site_kind((unsigned)(slot_key >> SEG_KEY_SHIFT));

	return (slot_key & SEG_KEY_ADDRESS) | kind << SEG_KEY_SHIFT;
}

static struct site_entry *index_slot(const struct family_store *store, uint64_t key)
{
	size_t mask = store->index_size - 1;
	size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & mask;

	while (store->index[at].key != 0 && store->index[at].key != key)
		at = (at + 1) & mask;
	return &store->index[at];
}

static int set_index_size(struct family_store *store, size_t size)
{
	const struct site_entry *old = store->index;
	struct family_store fresh = *store;

	fresh.index = calloc(size, sizeof(*fresh.index));
	if (!fresh.index)
		return -ENOMEM;
	fresh.index_size = size;
	for (size_t i = 0; i < store->index_size; i++)
		if (old[i].key != 0)
			*index_slot(&fresh, old[i].key) = old[i];
	free(store->index);
	store->index = fresh.index;
	store->index_size = size;
	return 0;
}

static int grow_sites(struct family_store *store)
{
	struct family *family = &store->family;
	size_t wanted = family->site_count + 1;
	void *sites, *marks;

	sites = snapshot_grow(family->sites, &store->site_room, wanted, sizeof(*family->sites));
	if (!sites)
		return -ENOMEM;
	family->sites = sites;
	marks = snapshot_grow(store->marks, &store->mark_room, wanted, sizeof(*store->marks));
	if (!marks)
		return -ENOMEM;
	store->marks = marks;
	if (wanted * 2 > store->index_size)
		return set_index_size(store, store->index_size * 2);
	return 0;
}

static int find_site(struct family_store *store, uint64_t key, uint32_t *out)
{
	struct site_entry *entry = index_slot(store, key);
	struct family *family = &store->family;
	int err;

	if (entry->key != 0) {
		*out = entry->site;
		return 0;
	}
	err = grow_sites(store);
	if (err)
		return err;
	*out = (uint32_t)family->site_count++;
	family->sites[*out] = (struct site){
		.address = key & SEG_KEY_ADDRESS,
		.kind = (uint8_t)(key >> SEG_KEY_SHIFT),
	};
	store->marks[*out] = 0;
	*index_slot(store, key) = (struct site_entry){key, *out};
	return 0;
}

/* --- cells --- */

static struct cell *marked_cell(const struct family_store *store, const struct thread *thread,
				uint32_t site)
{
	uint32_t mark = store->marks[site];

	return mark > thread->first_cell ? &store->family.cells[mark - 1] : NULL;
}

static int add_cells(struct family_store *store, struct thread *thread,
		     const struct seg_slot *slots, size_t count)
{
	struct family *family = &store->family;

	for (size_t i = 0; i < count; i++) {
		struct cell *cell;
		uint32_t site;
		int err = find_site(store, site_key(slots[i].key), &site);

		if (err)
			return err;
		cell = marked_cell(store, thread, site);
		if (!cell) {
			cell = &family->cells[family->cell_count++];
			*cell = (struct cell){.site = site};
			store->marks[site] = (uint32_t)family->cell_count;
		}
		counts_add_slot(&cell->total, (unsigned)(slots[i].key >> SEG_KEY_SHIFT), &slots[i]);
		store->slot_cells[i] = (uint32_t)(cell - family->cells);
	}
	thread->cell_count = family->cell_count - thread->first_cell;
	return 0;
}

/* The cell of the thread that holds what a slot of the base counted: when a fold found no room for
 * the site, that is the one for unknown sites. */
static struct cell *base_cell(const struct family_store *store, const struct thread *thread,
			      uint64_t key)
{
	const struct site_entry *entry = index_slot(store, key);
	struct cell *cell = entry->key ? marked_cell(store, thread, entry->site) : NULL;

	if (!cell && (key & SEG_KEY_ADDRESS) != 0)
		return base_cell(store, thread, key & ~SEG_KEY_ADDRESS);
	return cell;
}

/* Slots mostly stand in the same order as in the base, so the next one is tried before the hash;
 * that saves half of the time of a large model. */
static void add_base(struct family_store *store, const struct thread *thread,
		     const struct seg_slot *now, size_t now_count, const struct seg_slot *slots,
		     size_t count)
{
	size_t next = 0;

	for (size_t i = 0; i < count; i++) {
		struct cell *cell;

		while (next < now_count && next < i + AHEAD_MAX && now[next].key != slots[i].key)
			next++;
		if (next < now_count && now[next].key == slots[i].key) {
			cell = &store->family.cells[store->slot_cells[next++]];
		} else {
			cell = base_cell(store, thread, site_key(slots[i].key));
			next = i + 1;
		}
		if (cell)
			counts_add_slot(&cell->base, (unsigned)(slots[i].key >> SEG_KEY_SHIFT),
					&slots[i]);
	}
}

static void sum_thread(struct family *family, struct thread *thread)
{
	for (size_t i = 0; i < thread->cell_count; i++) {
		struct cell *cell = &family->cells[thread->first_cell + i];
		struct site *site = &family->sites[cell->site];

		counts_clamp_of(&cell->base, &cell->total, site->kind);
		counts_add_of(&site->total, &cell->total, site->kind);
		counts_add_of(&site->base, &cell->base, site->kind);
		counts_add_of(&thread->total, &cell->total, site->kind);
		counts_add_of(&thread->base, &cell->base, site->kind);
	}
	counts_add(&family->total, &thread->total);
	counts_add(&family->base, &thread->base);
}

/* --- threads and processes --- */

static int add_thread(struct family_store *store, const struct snapshot *now, size_t index)
{
	const struct snapshot_thread *row = &now->threads[index];
	const struct seg_process *process = lineage_process(now, row);
	struct family *family = &store->family;
	struct thread *thread = &family->threads[family->thread_count++];

	*thread = (struct thread){
		.role = lineage_role(row),
		.pid = process ? process->pid : 0,
		.ended = !row->live && lineage_role(row) != THREAD_SHARED,
		.serial = row->serial,
		.first_cell = family->cell_count,
	};
	if (thread->role == THREAD_ONE)
		thread->tid = row->tid;
	family->live_threads += row->live;
	memcpy(thread->sizes, now->sizes[index], sizeof(thread->sizes));
	for (size_t i = 0; i < SEG_SIZE_CLASSES; i++)
		if (__builtin_add_overflow(family->sizes[i], thread->sizes[i], &family->sizes[i]))
			family->sizes[i] = UINT64_MAX;
	return add_cells(store, thread, snapshot_slots(now, row), row->slot_count);
}

static int compare_processes(const void *left, const void *right)
{
	const struct process *a = left, *b = right;

	if (a->ended != b->ended)
		return a->ended ? 1 : -1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->started_ns < b->started_ns ? -1 : a->started_ns > b->started_ns;
}

void model_order_processes(struct family *family)
{
	family->live_processes = 0;
	for (size_t i = 0; i < family->process_count; i++)
		family->live_processes += !family->processes[i].ended;
	if (family->process_count > 1)
		qsort(family->processes, family->process_count, sizeof(*family->processes),
		      compare_processes);
}

/* Puts the sums of the threads into their processes. The processes are still in the order of the
 * snapshot's rows, free ones included. */
static void sum_processes(struct family *family, const struct snapshot *now)
{
	for (size_t i = 0; i < family->thread_count; i++) {
		const struct snapshot_thread *row = &now->threads[i];
		const struct thread *thread = &family->threads[i];
		struct process *process;

		if (!lineage_process(now, row))
			continue;
		process = &family->processes[row->process];
		counts_add(&process->total, &thread->total);
		counts_add(&process->base, &thread->base);
		process->live_threads += row->live;
	}
}

static void keep_used_processes(struct family *family, const struct snapshot *now)
{
	size_t kept = 0;

	for (size_t i = 0; i < now->process_count; i++) {
		struct process *process = &family->processes[i];

		if (now->processes[i].state != SEG_PROCESS_USED)
			continue;
		process->ended = process->live_threads == 0 && process->threads_started > 0;
		family->processes[kept++] = *process;
	}
	family->process_count = kept;
	model_order_processes(family);
}

static int build_processes(struct family_store *store, const struct snapshot *now)
{
	struct family *family = &store->family;
	void *processes = snapshot_grow(family->processes, &store->process_room, now->process_count,
					sizeof(*family->processes));

	if (!processes)
		return -ENOMEM;
	family->processes = processes;
	for (size_t i = 0; i < now->process_count; i++)
		family->processes[i] = (struct process){
			.pid = now->processes[i].pid,
			.started_ns = now->processes[i].started_ns,
			.threads_started = now->processes[i].threads_started,
		};
	sum_processes(family, now);
	keep_used_processes(family, now);
	return 0;
}

/* --- the family --- */

/* What it was called as: a file may have several names (Debian's redis-server is a link to
 * redis-check-rdb), and its user knows it by the one that was typed. */
static void name_family(struct family *family)
{
	size_t size = strcspn(family->cmdline, " ");
	const char *from = family->cmdline[0] == '-' ? family->cmdline + 1 : family->cmdline;
	const char *end = family->cmdline + size;
	const char *slash;

	if (from >= end) {
		from = family->exe;
		end = from + strlen(from);
	}
	slash = memrchr(from, '/', (size_t)(end - from));
	if (slash)
		from = slash + 1;
	snapshot_string(family->name, sizeof(family->name), from, (size_t)(end - from));
}

static void copy_strings(struct family *family, const struct seg_header *header)
{
	snapshot_string(family->exe, sizeof(family->exe), header->exe, sizeof(header->exe));
	snapshot_string(family->cmdline, sizeof(family->cmdline), header->cmdline,
			sizeof(header->cmdline));
	snapshot_string(family->listen, sizeof(family->listen), header->listen,
			sizeof(header->listen));
	snapshot_string(family->token_file, sizeof(family->token_file), header->token_file,
			sizeof(header->token_file));
	name_family(family);
}

static void begin_family(struct family *family, const struct snapshot *now,
			 const struct snapshot *base)
{
	const struct seg_header *header = &now->header;

	family->pid = header->pid;
	family->uid = header->uid;
	family->started_ns = header->started_ns;
	family->window_ns = 0;
	if (base && base->taken_mono_ns < now->taken_mono_ns)
		family->window_ns = now->taken_mono_ns - base->taken_mono_ns;
	family->total = (struct counts){0};
	family->base = (struct counts){0};
	memset(family->sizes, 0, sizeof(family->sizes));
	family->process_count = family->thread_count = family->live_threads = 0;
	family->site_count = family->cell_count = 0;
	family->threads_started = header->threads_started;
	family->processes_started = header->processes_started;
	memcpy(family->dropped, header->dropped, sizeof(family->dropped));
	family->segment_bytes = header->size;
	family->segment_used_bytes = now->memory_bytes;
	copy_strings(family, header);
}

static int make_arrays(struct family_store *store, const struct snapshot *now)
{
	struct family *family = &store->family;
	void *threads, *cells, *slot_cells;
	size_t slots = 0; /* of the thread that has most */

	threads = snapshot_grow(family->threads, &store->thread_room, now->thread_count,
				sizeof(*family->threads));
	if (!threads)
		return -ENOMEM;
	family->threads = threads;
	cells = snapshot_grow(family->cells, &store->cell_room, now->slot_count,
			      sizeof(*family->cells));
	if (!cells)
		return -ENOMEM;
	family->cells = cells;
	for (size_t i = 0; i < now->thread_count; i++)
		if (now->threads[i].slot_count > slots)
			slots = now->threads[i].slot_count;
	slot_cells = snapshot_grow(store->slot_cells, &store->slot_room, slots,
				   sizeof(*store->slot_cells));
	if (!slot_cells)
		return -ENOMEM;
	store->slot_cells = slot_cells;
	if (store->index_size == 0)
		return set_index_size(store, INDEX_MIN);
	memset(store->index, 0, store->index_size * sizeof(*store->index));
	return 0;
}

/* A realloc is one call, counted as an allocation and a free. */
static uint64_t calls(const struct counts *counts)
{
	return counts->alloc_count + counts->free_count - counts->realloc_count;
}

/* The agent does not count these two: the tallies of the rows hold the number. */
static void count_drops(struct family *family)
{
	for (size_t i = 0; i < family->thread_count; i++) {
		const struct thread *thread = &family->threads[i];
		bool shared = thread->role == THREAD_SHARED;

		for (size_t j = 0; j < thread->cell_count; j++) {
			const struct cell *cell = &family->cells[thread->first_cell + j];

			if (shared || family->sites[cell->site].address == 0)
				family->dropped[shared ? SEG_DROP_THREADS : SEG_DROP_SITES] +=
					calls(&cell->total);
		}
	}
}

/* Rows that are there for sums and have none are of no interest. */
static void drop_empty_rows(struct family *family)
{
	size_t kept = 0;

	for (size_t i = 0; i < family->thread_count; i++)
		if (family->threads[i].role == THREAD_ONE || family->threads[i].cell_count > 0)
			family->threads[kept++] = family->threads[i];
	family->thread_count = kept;
}

int model_build(struct family_store *store, const struct snapshot *now, const struct snapshot *base)
{
	struct family *family = &store->family;
	struct lineage *links = &store->lineage;
	int err;

	begin_family(family, now, base);
	err = make_arrays(store, now);
	if (!err)
		err = lineage_build(links, now, base);
	for (size_t i = 0; i < now->thread_count && !err; i++) {
		err = add_thread(store, now, i);
		for (uint32_t j = links->head[i]; j != LINEAGE_NONE && !err; j = links->next[j]) {
			const struct snapshot_thread *row = &base->threads[j];

			add_base(store, &family->threads[i], snapshot_slots(now, &now->threads[i]),
				 now->threads[i].slot_count, snapshot_slots(base, row),
				 row->slot_count);
		}
		if (!err)
			sum_thread(family, &family->threads[i]);
	}
	if (!err)
		err = build_processes(store, now);
	if (err)
		return err;
	drop_empty_rows(family);
	count_drops(family);
	return 0;
}

void family_store_free(struct family_store *store)
{
	free(store->family.processes);
	free(store->family.threads);
	free(store->family.sites);
	free(store->family.cells);
	free(store->index);
	free(store->marks);
	free(store->slot_cells);
	lineage_free(&store->lineage);
	*store = (struct family_store){0};
}

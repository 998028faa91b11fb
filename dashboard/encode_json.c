/* SPDX-License-Identifier: MIT */
/*
 * encode_json.c - the API's answers; see encode_json.h.
 *
 * Lists are written row by row, each as an object of its own, so that ten thousand sites need the
 * memory of one row and of the text.
 */
#include "dashboard/encode_json.h"

#include "dashboard/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What rates are over: the window and whether the base counts. */
struct basis {
	uint64_t window_ns;
	bool from_start;
};

static struct basis basis_of(const struct model *model, const struct family *family,
			     enum view_since since)
{
	return (struct basis){view_window_ns(family, model->now_ns, since), since == VIEW_START};
}

static void add_counts(struct json *json, const struct counts *counts)
{
	json_add_u64(json, "alloc_count", counts->alloc_count);
	json_add_u64(json, "alloc_bytes", counts->alloc_bytes);
	json_add_u64(json, "usable_bytes", counts->usable_bytes);
	json_add_u64(json, "free_count", counts->free_count);
	json_add_u64(json, "free_bytes", counts->free_bytes);
	json_add_u64(json, "realloc_count", counts->realloc_count);
	json_add_u64(json, "realloc_moved", counts->realloc_moved);
	json_add_u64(json, "realloc_grown", counts->realloc_grown);
	json_add_u64(json, "realloc_copied_bytes", counts->realloc_copied_bytes);
}

static void add_rates(struct json *json, const struct counts *total, const struct counts *base,
		      struct basis basis)
{
	static const struct counts nothing;
	const struct counts *from = basis.from_start ? &nothing : base;
	uint64_t window = basis.window_ns;

	json_add_decimal(json, "allocs_per_s",
			 model_rate(total->alloc_count, from->alloc_count, window), 1);
	json_add_decimal(json, "bytes_per_s",
			 model_rate(total->alloc_bytes, from->alloc_bytes, window), 1);
	json_add_decimal(json, "frees_per_s",
			 model_rate(total->free_count, from->free_count, window), 1);
	json_add_decimal(json, "freed_bytes_per_s",
			 model_rate(total->free_bytes, from->free_bytes, window), 1);
	json_add_decimal(json, "reallocs_per_s",
			 model_rate(total->realloc_count, from->realloc_count, window), 1);
}

/* Allocated minus freed: below zero for blocks that are older than the recording or, of a thread,
 * were allocated by another one. */
static void add_balance(struct json *json, const char *bytes_key, const char *count_key,
			const struct counts *counts)
{
	json_add_i64(json, bytes_key, (int64_t)(counts->usable_bytes - counts->free_bytes));
	json_add_i64(json, count_key, (int64_t)(counts->alloc_count - counts->free_count));
}

static void add_size_classes(struct json *json, const uint64_t *sizes)
{
	struct json list = json_array(json->out);

	for (unsigned k = 0; k < SEG_SIZE_CLASSES; k++) {
		struct json row;

		if (sizes[k] == 0)
			continue;
		row = json_object(json->out);
		json_add_u64(&row, "min", k == 0 ? 0 : 1ull << k);
		if (k == SEG_SIZE_CLASSES - 1)
			json_add_null(&row, "max");
		else
			json_add_u64(&row, "max", (2ull << k) - 1);
		json_add_u64(&row, "count", sizes[k]);
		json_append(&list, &row);
	}
	json_add(json, "size_classes", &list);
}

void encode_json_error(struct buf *out, const char *code, const char *message)
{
	struct json json = json_object(out), error = json_object(out);

	json_add_text(&error, "code", code);
	json_add_text(&error, "message", message);
	json_add(&json, "error", &error);
	json_write(&json, NULL);
}

void encode_json_health(struct buf *out, size_t families)
{
	struct json json = json_object(out);

	json_add_text(&json, "status", "ok");
	json_add_text(&json, "version", HEAPTAP_VERSION);
	json_add_u64(&json, "families", families);
	json_write(&json, NULL);
}

static void add_overhead(struct json *json, const struct family *family)
{
	struct json overhead = json_object(json->out);

	json_add_u64(&overhead, "segment_bytes", family->segment_bytes);
	json_add_u64(&overhead, "segment_used_bytes", family->segment_used_bytes);
	json_add_u64(&overhead, "torn_reads", family->torn_reads);
	json_add(json, "overhead", &overhead);
}

static void add_dropped(struct json *json, const struct family *family)
{
	struct json dropped = json_object(json->out);

	json_add_u64(&dropped, "threads", family->dropped[SEG_DROP_THREADS]);
	json_add_u64(&dropped, "processes", family->dropped[SEG_DROP_PROCESSES]);
	json_add_u64(&dropped, "sites", family->dropped[SEG_DROP_SITES]);
	json_add_u64(&dropped, "modules", family->dropped[SEG_DROP_MODULES]);
	json_add_u64(&dropped, "memory", family->dropped[SEG_DROP_MEMORY]);
	json_add_u64(&dropped, "lock", family->dropped[SEG_DROP_LOCK]);
	json_add_u64(&dropped, "recovered", family->dropped[SEG_DROP_RECOVERED]);
	json_add(json, "dropped", &dropped);
}

/* The kernel's side has no source yet; the keys are there so that a client can tell. */
static void add_sources(struct json *json)
{
	struct json sources = json_object(json->out);

	json_add_text(&sources, "memory", "agent");
	json_add_null(&sources, "scheduler");
	json_add_null(&sources, "tcp");
	json_add(json, "sources", &sources);
}

static void write_problems(struct buf *out, const struct family *family)
{
	for (size_t i = 0; i < family->problem_count; i++) {
		struct json problem = json_object(out);

		json_next_row(out, i);
		json_add_text(&problem, "code", family->problems[i].code);
		json_add_text(&problem, "message", family->problems[i].message);
		json_write(&problem, NULL);
	}
}

/* What /summary and /processes both say of a family. */
static void add_family(struct json *json, const struct family *family, struct basis basis)
{
	json_add_text(json, "id", family->id);
	json_add_i64(json, "pid", family->pid);
	json_add_text(json, "name", family->name);
	json_add_text(json, "exe", family->exe);
	json_add_text(json, "cmdline", family->cmdline);
	json_add_u64(json, "started_ns", family->started_ns);
	json_add_bool(json, "ended", family->ended);
	json_add_text(json, "listen", family->listen);
	json_add_u64(json, "processes", family->live_processes);
	json_add_u64(json, "processes_started", family->processes_started);
	json_add_u64(json, "threads", family->live_threads);
	json_add_u64(json, "threads_started", family->threads_started);
	add_counts(json, &family->total);
	add_balance(json, "live_bytes", "live_count", &family->total);
	add_rates(json, &family->total, &family->base, basis);
	json_add_u64(json, "rate_window_ns", basis.window_ns);
	json_add_known(json, "rss_bytes", family->rss_bytes);
}

void encode_json_summary(struct buf *out, const struct model *model, const struct family *family,
			 enum view_since since)
{
	struct json json = json_object(out);

	json_add_u64(&json, "now_ns", model->now_ns);
	add_family(&json, family, basis_of(model, family, since));
	add_size_classes(&json, family->sizes);
	add_overhead(&json, family);
	add_dropped(&json, family);
	add_sources(&json);
	json_write(&json, "problems");
	write_problems(out, family);
	buf_add_text(out, "]}");
}

static void write_members(struct buf *out, const struct family *family, struct basis basis)
{
	for (size_t i = 0; i < family->process_count; i++) {
		const struct process *process = &family->processes[i];
		struct json json = json_object(out);

		json_next_row(out, i);
		json_add_i64(&json, "pid", process->pid);
		json_add_text(&json, "name", process->name);
		json_add_bool(&json, "ended", process->ended);
		json_add_u64(&json, "started_ns", process->started_ns);
		json_add_u64(&json, "threads", process->live_threads);
		json_add_u64(&json, "threads_started", process->threads_started);
		add_counts(&json, &process->total);
		add_balance(&json, "live_bytes", "live_count", &process->total);
		add_rates(&json, &process->total, &process->base, basis);
		json_add_known(&json, "rss_bytes", process->rss_bytes);
		json_write(&json, NULL);
	}
}

void encode_json_processes(struct buf *out, const struct model *model, const struct family *only,
			   enum view_since since)
{
	struct json json = json_object(out);
	size_t written = 0;

	json_add_u64(&json, "now_ns", model->now_ns);
	json_write(&json, "families");
	for (size_t i = 0; i < model->family_count; i++) {
		const struct family *family = &model->families[i];
		struct basis basis = basis_of(model, family, since);
		struct json row;

		if (only && family != only)
			continue;
		json_next_row(out, written++);
		row = json_object(out);
		add_family(&row, family, basis);
		json_write(&row, "members");
		write_members(out, family, basis);
		buf_add_text(out, "]}");
	}
	buf_add_text(out, "]}");
}

static const char *role_name(enum thread_role role)
{
	switch (role) {
	case THREAD_ENDED:
		return "ended";
	case THREAD_SHARED:
		return "shared";
	case THREAD_ONE:
		break;
	}
	return "thread";
}

static void add_thread(struct json *json, const struct thread *thread, struct basis basis)
{
	json_add_text(json, "role", role_name(thread->role));
	json_add_i64(json, "tid", thread->tid);
	json_add_i64(json, "pid", thread->pid);
	json_add_text(json, "name", thread->name);
	json_add_bool(json, "ended", thread->ended);
	add_counts(json, &thread->total);
	add_balance(json, "net_bytes", "net_count", &thread->total);
	add_rates(json, &thread->total, &thread->base, basis);
}

void encode_json_threads(struct buf *out, const struct model *model, const struct family *family,
			 const struct view_options *options, const struct thread_view *view)
{
	struct basis basis = basis_of(model, family, options->since);
	struct json json = json_object(out);

	json_add_u64(&json, "now_ns", model->now_ns);
	json_add_u64(&json, "rate_window_ns", basis.window_ns);
	json_add_u64(&json, "total", view->total);
	json_add_u64(&json, "matched", view->matched);
	json_write(&json, "threads");
	for (size_t i = 0; i < view->row_count && !out->failed; i++) {
		struct json row = json_object(out);

		json_next_row(out, i);
		add_thread(&row, view->rows[i].thread, basis);
		json_add_u64(&row, "sites", view->rows[i].thread->cell_count);
		json_write(&row, NULL);
	}
	buf_add_text(out, "]}");
}

const char *encode_json_kind(unsigned kind)
{
	static const char *const names[SEG_KINDS] = {
		[SEG_KIND_MALLOC] = "malloc",
		[SEG_KIND_CALLOC] = "calloc",
		[SEG_KIND_ALIGNED] = "aligned",
		[SEG_KIND_NEW] = "new",
		[SEG_KIND_NEW_ARRAY] = "new[]",
		[SEG_KIND_REALLOC] = "realloc",
		[SEG_KIND_FREE] = "free",
		[SEG_KIND_DELETE] = "delete",
		[SEG_KIND_DELETE_ARRAY] = "delete[]",
	};

	return kind < SEG_KINDS ? names[kind] : NULL;
}

static void add_place(struct json *json, const struct site *site)
{
	char *name = view_site_name(site);

	json_add_hex(json, "address", "0x", site->address);
	json_add_text(json, "function", site->function);
	json_add_u64(json, "function_offset", site->function_offset);
	json_add_text(json, "module", site->module);
	json_add_text(json, "module_name", site->module ? view_base_name(site->module) : NULL);
	json_add_u64(json, "module_offset", site->module_offset);
	json_add_text(json, "build_id", site->build_id);
	json_add_text(json, "name", name);
	free(name);
}

static void add_share(struct json *json, const char *key, uint64_t part, uint64_t whole)
{
	json_add_decimal(json, key, whole ? (double)part / (double)whole : 0.0, 6);
}

/* Of the family in the same window, so that the shares of its sites add up to 1. */
static void add_shares(struct json *json, const struct site_row *row, const struct family *family,
		       bool from_start)
{
	static const struct counts nothing;
	const struct counts *whole = &family->total, *base = from_start ? &nothing : &family->base;

	add_share(json, "alloc_share", row->total.alloc_count - row->base.alloc_count,
		  whole->alloc_count - base->alloc_count);
	add_share(json, "bytes_share", row->total.alloc_bytes - row->base.alloc_bytes,
		  whole->alloc_bytes - base->alloc_bytes);
}

static void write_site(struct buf *out, const struct family *family, const struct site_row *row,
		       struct basis basis)
{
	const char *kind = encode_json_kind(row->site->kind);
	struct json json = json_object(out);
	char id[48];

	snprintf(id, sizeof id, "%s-%" PRIx64, kind ? kind : "other", row->site->address);
	json_add_text(&json, "id", id);
	add_place(&json, row->site);
	json_add_text(&json, "kind", kind ? kind : "other");
	add_counts(&json, &row->total);
	if (row->total.alloc_count)
		json_add_decimal(&json, "mean_bytes",
				 (double)row->total.alloc_bytes / (double)row->total.alloc_count,
				 1);
	else
		json_add_null(&json, "mean_bytes");
	add_rates(&json, &row->total, &row->base, basis);
	add_shares(&json, row, family, basis.from_start);
	json_write(&json, NULL);
}

static void write_sites(struct buf *out, const struct family *family, const struct site_view *view,
			struct basis basis)
{
	for (size_t i = 0; i < view->row_count && !out->failed; i++) {
		json_next_row(out, i);
		write_site(out, family, &view->rows[i], basis);
	}
}

void encode_json_thread(struct buf *out, const struct model *model, const struct family *family,
			const struct thread *thread, const struct view_options *options,
			const struct site_view *view)
{
	struct basis basis = basis_of(model, family, options->since);
	struct json json = json_object(out);

	json_add_u64(&json, "now_ns", model->now_ns);
	json_add_u64(&json, "rate_window_ns", basis.window_ns);
	add_thread(&json, thread, basis);
	add_size_classes(&json, thread->sizes);
	json_add_u64(&json, "total", view->total);
	json_add_u64(&json, "matched", view->matched);
	json_write(&json, "sites");
	write_sites(out, family, view, basis);
	buf_add_text(out, "]}");
}

static struct json totals_of(struct buf *out, const struct site_view *view, struct basis basis)
{
	struct json totals = json_object(out);

	add_counts(&totals, &view->sum_total);
	add_rates(&totals, &view->sum_total, &view->sum_base, basis);
	return totals;
}

void encode_json_sites(struct buf *out, const struct model *model, const struct family *family,
		       const struct view_options *options, const struct site_view *view)
{
	struct basis basis = basis_of(model, family, options->since);
	struct json json = json_object(out), totals = totals_of(out, view, basis);

	json_add_u64(&json, "now_ns", model->now_ns);
	json_add_u64(&json, "rate_window_ns", basis.window_ns);
	json_add_u64(&json, "total", view->total);
	json_add_u64(&json, "matched", view->matched);
	json_add(&json, "totals", &totals);
	json_write(&json, "sites");
	write_sites(out, family, view, basis);
	buf_add_text(out, "]}");
}

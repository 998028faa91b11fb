/* SPDX-License-Identifier: MIT */
/*
 * family_watch.c - see family_watch.h.
 *
 * Rates need counts of a moment at least 0.9 s ago. Two snapshots are kept, taken a second apart:
 * the newer one serves as soon as it is old enough, the older one until then. A family younger
 * than that is compared with its start, when all counts were 0.
 *
 * A torn snapshot (rows were folded all the time) would make sums jump, so the model before it is
 * shown on for a while.
 */
#include "dashboard/family_watch.h"
#include "dashboard/model_build.h"
#include "dashboard/problems.h"
#include "dashboard/proc_facts.h"
#include "dashboard/site_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEW_NAMES = 256, SET_PROBLEMS = 8 };

#define SECOND	      1000000000u
#define BASE_AGE_MIN  900000000u
#define YOUNG	      (3u * SECOND)
#define TORN_SHOWN_ON (2u * SECOND)

struct set_problem {
	char code[24]; /* "": free */
	char message[sizeof(((struct problem *)0)->message)];
};

struct family_watch {
	char name[64];
	struct segment *segment; /* NULL: ended for good, all that it held is known */
	struct seg_header header;
	bool live;
	bool damaged; /* the segment could not be read */
	bool final;   /* the model is that of the ended family */
	struct snapshot now;
	struct snapshot past[2];
	unsigned newest;	 /* of past */
	uint64_t built_ns;	 /* CLOCK_MONOTONIC, of the snapshot that the model is made of */
	uint64_t threads_at_end; /* threads_started when it ended */
	uint64_t torn_reads;
	struct family_store store;
	struct site_names *names;
	struct proc_facts *facts;
	struct set_problem set[SET_PROBLEMS];
	struct problem problems[SEG_PROBLEMS + SET_PROBLEMS + 1];
};

static bool pid_there(const struct family_watch *watch)
{
	return proc_exists(watch->header.pid, watch->header.uid, watch->header.start_boot_ns);
}

/* Whether the family lives, from its rows; -errno where the segment cannot be read. */
static int look(struct family_watch *watch, bool *out)
{
	enum segment_life life;
	int err = segment_read_header(watch->segment, &watch->header);

	if (!err)
		err = segment_probe(watch->segment, &life);
	if (err)
		return err;
	*out = life == SEGMENT_LIVE || (life == SEGMENT_UNDECIDED && pid_there(watch));
	return 0;
}

void family_watch_close(struct family_watch *watch)
{
	if (!watch)
		return;
	segment_close(watch->segment);
	snapshot_free(&watch->now);
	snapshot_free(&watch->past[0]);
	snapshot_free(&watch->past[1]);
	family_store_free(&watch->store);
	site_names_destroy(watch->names);
	proc_facts_destroy(watch->facts);
	free(watch);
}

const char *family_watch_id(const struct family_watch *watch)
{
	return watch->store.family.id;
}

const char *family_watch_name(const struct family_watch *watch)
{
	return watch->name;
}

bool family_watch_live(const struct family_watch *watch)
{
	return watch->live;
}

const struct seg_header *family_watch_header(const struct family_watch *watch)
{
	return &watch->header;
}

const struct family *family_watch_family(const struct family_watch *watch)
{
	return &watch->store.family;
}

/* --- life --- */

/* Whether a process of the ended family is left that may register another thread. */
static bool may_come_back(const struct family_watch *watch)
{
	int in_use = segment_in_use(watch->segment);

	if (in_use >= 0)
		return in_use;
	if (watch->header.flags & SEG_FLAG_EXITED)
		return false;
	if (pid_there(watch))
		return true;
	for (size_t i = 0; i < watch->now.process_count; i++)
		if (watch->now.processes[i].state == SEG_PROCESS_USED &&
		    proc_exists(watch->now.processes[i].pid, watch->header.uid, UINT64_MAX))
			return true;
	return false;
}

/* The file is let go as soon as it cannot change any more: where it was unlinked, its memory is
 * freed only by that. */
static void let_go(struct family_watch *watch)
{
	if (may_come_back(watch))
		return;
	segment_close(watch->segment);
	watch->segment = NULL;
}

static void end(struct family_watch *watch)
{
	watch->live = false;
	watch->final = false; /* one more model, of the final counts */
	watch->threads_at_end = watch->header.threads_started;
	watch->damaged = segment_read(watch->segment, &watch->now) != 0;
	for (int i = 0; i < 2; i++)
		snapshot_free(&watch->past[i]);
}

static void probe_ended(struct family_watch *watch)
{
	bool live = false;

	/* It comes back only by a thread that registers. */
	if (segment_read_header(watch->segment, &watch->header) == 0 &&
	    watch->header.threads_started != watch->threads_at_end && look(watch, &live) == 0)
		watch->threads_at_end = watch->header.threads_started;
	watch->live = live;
	if (live)
		watch->final = false;
	else
		let_go(watch);
}

void family_watch_probe(struct family_watch *watch)
{
	bool live;

	if (!watch->segment)
		return;
	if (!watch->live) {
		probe_ended(watch);
		return;
	}
	if (look(watch, &live) < 0) {
		watch->damaged = true;
		live = pid_there(watch);
	}
	if (!live)
		end(watch);
}

/* After exec, exit of the last thread, or a kill, rows tell the truth and the pid does not: but a
 * process that is still there may register another thread. */
static int first_look(struct family_watch *watch, bool dead_too)
{
	int err = look(watch, &watch->live);

	if (err)
		return err;
	return watch->live || dead_too || pid_there(watch) ? 0 : -ESRCH;
}

int family_watch_open(int dirfd, const char *name, uid_t owner, bool dead_too,
		      struct family_watch **out)
{
	size_t length = strlen(name);
	struct family_watch *watch;
	int err;

	if (length < 5 || length - 4 >= sizeof(watch->store.family.id))
		return -EBADMSG;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	snapshot_string(watch->name, sizeof(watch->name), name, length);
	snapshot_string(watch->store.family.id, length - 3, name, length);
	err = segment_open(dirfd, name, owner, &watch->segment);
	if (!err)
		err = first_look(watch, dead_too);
	if (!err)
		err = site_names_create(&watch->names);
	if (!err)
		err = proc_facts_create(&watch->facts);
	if (err) {
		family_watch_close(watch);
		return err;
	}
	if (!watch->live)
		end(watch);
	*out = watch;
	return 0;
}

void family_watch_take_base(struct family_watch *watch)
{
	struct snapshot *oldest = &watch->past[watch->newest ^ 1];

	if (!watch->live)
		return;
	if (segment_read(watch->segment, oldest) < 0) {
		oldest->taken_mono_ns = 0;
		return;
	}
	proc_facts_see(watch->facts, oldest, NEW_NAMES);
	snapshot_trim(oldest);
	if (oldest->torn) {
		watch->torn_reads++;
		oldest->taken_mono_ns = 0;
		return;
	}
	watch->newest ^= 1;
}

/* --- model --- */

static const struct snapshot *find_base(const struct family_watch *watch)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct snapshot *past = &watch->past[watch->newest ^ i];

		if (past->taken_mono_ns != 0 && watch->now.taken_mono_ns > past->taken_mono_ns &&
		    watch->now.taken_mono_ns - past->taken_mono_ns >= BASE_AGE_MIN)
			return past;
	}
	return NULL;
}

static void add_problem(struct family *family, const struct problem *problem)
{
	family->problems[family->problem_count++] = *problem;
}

static void list_problems(struct family_watch *watch)
{
	struct family *family = &watch->store.family;
	struct problem problem;

	family->problems = watch->problems;
	family->problem_count = 0;
	for (size_t i = 0; i < SEG_PROBLEMS; i++)
		if (problem_describe(&watch->now.header.problems[i], &problem))
			add_problem(family, &problem);
	for (size_t i = 0; i < SET_PROBLEMS; i++) {
		if (watch->set[i].code[0] == '\0')
			continue;
		problem.code = watch->set[i].code;
		memcpy(problem.message, watch->set[i].message, sizeof(problem.message));
		add_problem(family, &problem);
	}
	if (!watch->damaged && watch->now.invalid == 0)
		return;
	problem.code = "segment";
	snprintf(problem.message, sizeof(problem.message),
		 watch->damaged ? "The segment cannot be read; the counts shown are older ones"
				: "%llu records of the segment make no sense and were left out",
		 (unsigned long long)watch->now.invalid);
	add_problem(family, &problem);
}

/* A torn snapshot is shown only where there is no recent model, or never will be a better one. */
static bool skip_torn(struct family_watch *watch)
{
	if (!watch->now.torn)
		return false;
	watch->torn_reads++;
	return watch->live && watch->built_ns != 0 &&
	       watch->now.taken_mono_ns - watch->built_ns < TORN_SHOWN_ON;
}

static void set_window(struct family_watch *watch)
{
	struct family *family = &watch->store.family;
	uint64_t now = watch->now.taken_ns;

	if (family->window_ns == 0 && family->started_ns < now && now - family->started_ns < YOUNG)
		family->window_ns = now - family->started_ns;
}

static void end_all(struct family *family)
{
	for (size_t i = 0; i < family->process_count; i++)
		family->processes[i].ended = true;
	for (size_t i = 0; i < family->thread_count; i++)
		family->threads[i].ended = true;
	family->live_threads = 0;
	family->live_processes = 0;
}

static int build_from(struct family_watch *watch, const struct snapshot *base,
		      struct symbols *symbols)
{
	struct family *family = &watch->store.family;
	int err = model_build(&watch->store, &watch->now, base);

	if (err)
		return err;
	proc_facts_see(watch->facts, &watch->now, NEW_NAMES);
	proc_facts_fill(watch->facts, family);
	err = site_names_fill(watch->names, symbols, &watch->now,
			      proc_facts_pid(watch->facts, family), family);
	family->ended = false;
	set_window(watch);
	watch->built_ns = watch->now.taken_mono_ns;
	return err;
}

/* The arrays of the last snapshot have done their work. */
static void drop_snapshot(struct family_watch *watch)
{
	struct snapshot *now = &watch->now;
	struct seg_header header = now->header;
	uint64_t invalid = now->invalid;

	snapshot_free(now);
	now->header = header;
	now->invalid = invalid;
}

static int build_live(struct family_watch *watch, struct symbols *symbols)
{
	int err = segment_read(watch->segment, &watch->now);

	watch->damaged = err != 0;
	if (err || skip_torn(watch))
		return err;
	return build_from(watch, find_base(watch), symbols);
}

static int build_ended(struct family_watch *watch, struct symbols *symbols)
{
	int err = 0;

	if (watch->final)
		return 0;
	if (!watch->damaged)
		err = build_from(watch, NULL, symbols);
	watch->store.family.ended = true;
	watch->store.family.window_ns = 0;
	end_all(&watch->store.family);
	watch->final = true;
	if (!watch->segment)
		drop_snapshot(watch);
	return err;
}

int family_watch_build(struct family_watch *watch, struct symbols *symbols)
{
	int err = watch->live ? build_live(watch, symbols) : build_ended(watch, symbols);

	watch->store.family.torn_reads = watch->torn_reads;
	list_problems(watch);
	return err;
}

size_t family_watch_bytes(const struct family_watch *watch)
{
	const struct family_store *store = &watch->store;

	return sizeof(*watch) + store->thread_room * sizeof(struct thread) +
	       store->site_room * sizeof(struct site) + store->cell_room * sizeof(struct cell) +
	       watch->now.slot_room * sizeof(struct seg_slot) +
	       watch->now.sizes_room * sizeof(*watch->now.sizes);
}

int family_watch_set_problem(struct family_watch *watch, const char *code, const char *message)
{
	struct set_problem *place = NULL;

	for (size_t i = SET_PROBLEMS; i > 0; i--)
		if (watch->set[i - 1].code[0] == '\0')
			place = &watch->set[i - 1];
	for (size_t i = 0; i < SET_PROBLEMS; i++)
		if (strcmp(watch->set[i].code, code) == 0)
			place = &watch->set[i];
	if (!message) {
		if (place && strcmp(place->code, code) == 0)
			place->code[0] = '\0';
		return 0;
	}
	if (!place)
		return -ENOSPC;
	snapshot_string(place->code, sizeof(place->code), code, strlen(code));
	snapshot_string(place->message, sizeof(place->message), message, strlen(message));
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * test_families.c - families that appear, allocate, end, come back and are forgotten.
 *
 * Living families here have the pid of this process, or of a child that only sleeps, so that what
 * /proc says is known.
 */
#include "dashboard/families.h"
#include "tests/unit/lease_fake.h"
#include "tests/unit/segment_builder.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SIZE	 (1u << 20)
#define NO_PID	 999999999 /* above pid_max */
#define LIVE_MAX 256
#define DEAD_MAX 32

struct fixture {
	char *dir;
	struct families *families;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dir = builder_dir_create();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	families_destroy(f->families);
	builder_dir_remove(f->dir);
	free(f);
	return 0;
}

static void start(struct fixture *f)
{
	assert_int_equal(families_create(f->dir, &f->families), 0);
}

/* A family with one thread that has one site. */
static struct builder *make_family(struct fixture *f, int32_t pid, uint64_t allocations)
{
	struct builder *b = builder_create(f->dir, pid, SIZE);
	uint32_t thread = builder_thread(b, builder_process(b, pid), pid);

	builder_site(b, thread, SEG_KIND_MALLOC, 0x401000, allocations, allocations * 10,
		     allocations * 16);
	builder_publish(b);
	return b;
}

enum { FIRST_ROW = 2 };

static void wait_for_event(struct fixture *f)
{
	struct pollfd fd = {.fd = families_fd(f->families), .events = POLLIN};

	assert_int_equal(poll(&fd, 1, 2000), 1);
	assert_int_equal(families_events(f->families), 0);
}

static const struct model *get_model(struct fixture *f)
{
	const struct model *model = NULL;

	assert_int_equal(families_tick(f->families), 0);
	assert_int_equal(families_model(f->families, &model), 0);
	return model;
}

static const struct family *find(const struct model *model, const struct builder *b)
{
	for (size_t i = 0; i < model->family_count; i++)
		if (strcmp(model->families[i].id, b->id) == 0)
			return &model->families[i];
	return NULL;
}

static bool file_there(const struct builder *b)
{
	return access(b->path, F_OK) == 0;
}

/* --- which are there --- */

static void finds_families_that_are_there(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, getpid(), 10);
	const struct family *family;

	start(f);
	assert_int_equal(families_live(f->families), 1);
	family = find(get_model(f), b);
	assert_non_null(family);
	assert_int_equal(family->total.alloc_count, 10);
	assert_int_equal(family->total.alloc_bytes, 100);
	assert_int_equal(family->pid, getpid());
	assert_false(family->ended);
	assert_int_equal(family->live_processes, 1);
	builder_destroy(b);
}

static void sees_families_appear(void **state)
{
	struct fixture *f = *state;
	struct builder *b;

	start(f);
	assert_int_equal(get_model(f)->family_count, 0);
	b = make_family(f, getpid(), 10);
	wait_for_event(f);
	assert_int_equal(get_model(f)->family_count, 1);
	builder_destroy(b);
}

static void waits_until_a_segment_is_ready(void **state)
{
	struct fixture *f = *state;
	struct builder *b;

	start(f);
	b = builder_create(f->dir, getpid(), SIZE);
	wait_for_event(f);
	assert_int_equal(get_model(f)->family_count, 0);
	builder_publish(b);
	assert_int_equal(get_model(f)->family_count, 1);
	assert_int_equal(families_live(f->families), 1); /* no threads yet, but its pid is there */
	builder_destroy(b);
}

static void ignores_other_files(void **state)
{
	struct fixture *f = *state;
	const char *const names[] = {"server.lock", "token", "1-2.seg.tmp",
				     "x-1.seg",	    ".seg",  "9.seg"};
	char path[512];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		fclose(fopen(path, "w"));
	}
	start(f);
	assert_int_equal(get_model(f)->family_count, 0);
	assert_int_equal(families_rescan(f->families), 0);
}

static void refuses_a_directory_of_all(void **state)
{
	struct fixture *f = *state;
	struct families *families = NULL;

	assert_int_equal(chmod(f->dir, 0722), 0);
	assert_int_equal(families_create(f->dir, &families), -EPERM);
	assert_int_equal(chmod(f->dir, 0700), 0);
	assert_int_equal(families_create("/nowhere/at/all", &families), -ENOENT);
	assert_null(families);
}

static void rescan_finds_what_events_have_not_told(void **state)
{
	struct fixture *f = *state;
	struct builder *b;

	start(f);
	b = make_family(f, getpid(), 1);
	assert_int_equal(families_rescan(f->families), 1);
	assert_int_equal(get_model(f)->family_count, 1);
	builder_destroy(b);
}

static void the_dead_are_no_families_at_the_start(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, NO_PID, 10);

	builder_thread_dies(b, FIRST_ROW);
	start(f);
	assert_int_equal(get_model(f)->family_count, 0);
	builder_destroy(b);
}

/* But one that was born and died between two looks was there while the server was. */
static void the_short_lived_are_shown(void **state)
{
	struct fixture *f = *state;
	struct builder *b;

	start(f);
	b = make_family(f, NO_PID, 10);
	builder_thread_dies(b, FIRST_ROW);
	wait_for_event(f);
	unlink(b->path);
	assert_int_equal(families_live(f->families), 0);
	assert_int_equal(find(get_model(f), b)->total.alloc_count, 10);
	assert_true(find(get_model(f), b)->ended);
	builder_destroy(b);
}

/* --- end --- */

static void ended_families_keep_their_last_counts(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, NO_PID, 10);
	const struct family *family;

	start(f);
	assert_int_equal(find(get_model(f), b)->total.alloc_count, 10);
	builder_site(b, FIRST_ROW, SEG_KIND_MALLOC, 0x401000, 5, 50, 80);
	builder_thread_dies(b, FIRST_ROW);
	b->header->flags |= SEG_FLAG_EXITED;
	unlink(b->path);
	family = find(get_model(f), b);
	assert_true(family->ended);
	assert_int_equal(family->total.alloc_count, 15);
	assert_int_equal(family->live_threads, 0);
	assert_int_equal(family->live_processes, 0);
	assert_int_equal(family->window_ns, 0);
	assert_true(family->processes[0].ended);
	assert_int_equal(families_live(f->families), 0);
	/* the file is let go: what comes after is not seen */
	builder_site(b, FIRST_ROW, SEG_KIND_MALLOC, 0x401000, 5, 50, 80);
	usleep(1100000);
	assert_int_equal(find(get_model(f), b)->total.alloc_count, 15);
	assert_int_equal(find(get_model(f), b)->site_count, 1);
	builder_destroy(b);
}

static void a_family_comes_back_to_life(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, getpid(), 10);
	uint32_t row;

	start(f);
	builder_thread_dies(b, FIRST_ROW);
	assert_true(find(get_model(f), b)->ended);
	row = builder_thread(b, 0, 77);
	builder_site(b, row, SEG_KIND_MALLOC, 0x401000, 3, 3, 3);
	usleep(1000000); /* ended ones are looked at once a second */
	assert_false(find(get_model(f), b)->ended);
	assert_int_equal(find(get_model(f), b)->total.alloc_count, 13);
	assert_int_equal(families_live(f->families), 1);
	builder_destroy(b);
}

static void only_so_many_ended_ones_are_kept(void **state)
{
	struct fixture *f = *state;
	struct builder *last = NULL;
	const struct model *model;

	start(f);
	for (int i = 0; i < 70; i++) {
		builder_destroy(last);
		last = make_family(f, NO_PID - i, 1);
		wait_for_event(f);
		builder_thread_dies(last, FIRST_ROW);
		families_tick(f->families);
	}
	model = get_model(f);
	assert_int_equal(model->family_count, 64);
	assert_non_null(find(model, last));
	builder_destroy(last);
}

static void too_many_families_are_told(void **state)
{
	struct fixture *f = *state;
	struct builder *first = NULL, *b;
	const struct model *model;

	for (int i = 0; i < LIVE_MAX + 3; i++) {
		b = make_family(f, getpid(), 1);
		if (i == 0)
			first = b;
		else
			builder_destroy(b);
	}
	start(f);
	model = get_model(f);
	assert_int_equal(model->family_count, LIVE_MAX);
	assert_int_equal(model->families[0].problem_count, 1);
	assert_string_equal(model->families[0].problems[0].code, "families");
	assert_true(strstr(model->families[0].problems[0].message, "3 more") != NULL);
	builder_destroy(first);
}

static void a_truncated_segment_is_told(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, NO_PID, 10);
	const struct family *family;

	start(f);
	assert_int_equal(find(get_model(f), b)->total.alloc_count, 10);
	assert_int_equal(truncate(b->path, 4096), 0);
	family = find(get_model(f), b);
	assert_int_equal(family->total.alloc_count, 10);
	assert_true(family->ended); /* nothing says that it lives */
	assert_string_equal(family->problems[0].code, "segment");
	assert_int_equal(truncate(b->path, SIZE), 0);
	builder_destroy(b);
}

/* --- rates --- */

static void rates_are_those_of_the_last_second(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, getpid(), 1000);
	const struct family *family;
	double rate;

	b->header->started_ns -= 3600000000000u; /* not a young one */
	start(f);
	assert_int_equal(find(get_model(f), b)->window_ns, 0); /* not watched long enough */
	usleep(1000000);
	families_tick(f->families);
	builder_site(b, FIRST_ROW, SEG_KIND_MALLOC, 0x401000, 500, 5000, 8000);
	usleep(1000000);
	family = find(get_model(f), b);
	assert_int_equal(family->total.alloc_count, 1500);
	assert_int_equal(family->base.alloc_count, 1000);
	assert_true(family->window_ns >= 900000000 && family->window_ns < 2000000000);
	rate = model_rate(family->total.alloc_count, family->base.alloc_count, family->window_ns);
	assert_true(rate > 250 && rate <= 556);
	/* and none any more when nothing happens */
	for (int i = 0; i < 2; i++) {
		usleep(1000000);
		families_tick(f->families);
	}
	family = find(get_model(f), b);
	assert_int_equal(family->base.alloc_count, 1500);
	builder_destroy(b);
}

static void a_young_family_has_a_rate_at_once(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, getpid(), 1000);
	const struct family *family;

	start(f);
	usleep(100000);
	family = find(get_model(f), b);
	assert_int_equal(family->base.alloc_count, 0);
	assert_true(family->window_ns >= 100000000 && family->window_ns < 3000000000);
	builder_destroy(b);
}

static void the_one_that_allocates_most_comes_first(void **state)
{
	struct fixture *f = *state;
	struct builder *slow = make_family(f, getpid(), 10),
		       *dead = make_family(f, NO_PID, 1 << 20);
	struct builder *fast = make_family(f, getpid(), 1000);
	const struct model *model;

	start(f);
	builder_thread_dies(dead, FIRST_ROW);
	model = get_model(f);
	assert_string_equal(model->families[0].id, fast->id);
	assert_string_equal(model->families[1].id, slow->id);
	assert_string_equal(model->families[2].id, dead->id);
	builder_destroy(slow);
	builder_destroy(dead);
	builder_destroy(fast);
}

/* --- what /proc says --- */

static void names_processes_and_threads(void **state)
{
	struct fixture *f = *state;
	struct builder *b;
	const struct family *family;

	prctl(PR_SET_NAME, "a name (odd)");
	b = make_family(f, getpid(), 10);
	start(f);
	family = find(get_model(f), b);
	assert_string_equal(family->processes[0].name, "a name (odd)");
	assert_string_equal(family->threads[0].name, "a name (odd)");
	assert_true(family->processes[0].rss_bytes > 100000);
	assert_int_equal(family->rss_bytes, family->processes[0].rss_bytes);
	builder_thread_dies(b, FIRST_ROW);
	prctl(PR_SET_NAME, "test_families");
	family = find(get_model(f), b);
	assert_string_equal(family->threads[0].name, "a name (odd)"); /* as it was */
	assert_int_equal(family->rss_bytes, 0);
	builder_destroy(b);
}

/* The pid may be one of another pid namespace: a process here that is younger is another one. */
static void does_not_believe_a_younger_process(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, getpid(), 10);
	const struct family *family;

	b->header->start_boot_ns = 1000000000;
	start(f);
	family = find(get_model(f), b);
	assert_string_equal(family->processes[0].name, "");
	assert_int_equal(family->rss_bytes, 0);
	assert_false(family->ended); /* its row says so */
	builder_destroy(b);
}

static void names_sites(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, getpid(), 10);
	const uint8_t id[2] = {0xab, 0x01};
	const struct family *family;

	builder_module(b, 0x400000, 0x500000, 0x300000, "/nowhere/lib.so", id, 2);
	builder_site(b, FIRST_ROW, SEG_KIND_FREE, 0x900000, 1, 1, 0);
	start(f);
	family = find(get_model(f), b);
	assert_int_equal(family->site_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct site *site = &family->sites[i];

		assert_null(site->function);
		if (site->address == 0x900000) {
			assert_null(site->module);
			continue;
		}
		assert_string_equal(site->module, "/nowhere/lib.so");
		assert_string_equal(site->build_id, "ab01");
		assert_int_equal(site->module_offset, 0x100fff);
	}
	/* an object that is told later gives the other site its place */
	builder_module(b, 0x900000, 0xa00000, 0x900000, "", NULL, 0);
	builder_site(b, FIRST_ROW, SEG_KIND_FREE, 0x900010, 1, 1, 0);
	family = find(get_model(f), b);
	for (size_t i = 0; i < family->site_count; i++)
		if (family->sites[i].address == 0x900010) {
			assert_string_equal(family->sites[i].module, "/usr/bin/example");
			assert_null(family->sites[i].build_id);
		}
	builder_destroy(b);
}

/* --- problems and wishes --- */

static void tells_problems_as_sentences(void **state)
{
	static const struct {
		struct seg_problem record;
		const char *code, *message;
	} cases[] = {
		{{SEG_PROBLEM_SETTING, 0, "HEAPTAP_MEMORY=12x"},
		 "setting",
		 "HEAPTAP_MEMORY=12x is not valid; allowed: a size from 1M to 1G. The default is "
		 "used"},
		{{SEG_PROBLEM_SETTING, 0, "HEAPTAP_KEEP="},
		 "setting",
		 "HEAPTAP_KEEP= is not valid; allowed: 0 or 1. The default is used"},
		{{SEG_PROBLEM_SETTING, 0, "odd"},
		 "setting",
		 "odd is not valid. The default is used"},
		{{SEG_PROBLEM_UNKNOWN_SETTING, 0, "HEAPTAP_LISTN"},
		 "unknown_setting",
		 "HEAPTAP_LISTN is not a setting of heaptap; it is ignored"},
		{{SEG_PROBLEM_DIR, EACCES, "/x"},
		 "dir",
		 "HEAPTAP_DIR: /x cannot be used: Permission denied; the default directory is "
		 "used"},
		{{SEG_PROBLEM_SERVER, ENOENT, "/y"},
		 "server",
		 "The server /y could not be started: No such file or directory"},
		{{SEG_PROBLEM_LOG, 0, "/z"}, "log", "HEAPTAP_LOG: /z could not be written"},
		{{99, 12345, ""},
		 "agent",
		 "The agent reports problem 99 of a kind not known here: error 12345"},
	};
	struct fixture *f = *state;
	struct builder *b = make_family(f, getpid(), 10);
	const struct family *family;
	size_t count = sizeof(cases) / sizeof(cases[0]);

	for (size_t i = 0; i < count; i++)
		b->header->problems[i] = cases[i].record;
	memset(b->header->problems[count].text, 'x', 120); /* without an end */
	b->header->problems[count].code = SEG_PROBLEM_NOT_FIRST;
	start(f);
	family = find(get_model(f), b);
	assert_int_equal(family->problem_count, count + 1);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(family->problems[i].code, cases[i].code);
		assert_string_equal(family->problems[i].message, cases[i].message);
	}
	assert_string_equal(family->problems[count].code, "not_first");
	builder_destroy(b);
}

static void sets_and_takes_away_problems(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, getpid(), 10);
	const struct family *family;

	start(f);
	assert_int_equal(families_set_problem(f->families, "1-1", "listen", "x"), -ENOENT);
	assert_int_equal(families_set_problem(f->families, b->id, "listen", "in use"), 0);
	assert_int_equal(families_set_problem(f->families, b->id, "listen", "taken"), 0);
	assert_int_equal(families_set_problem(f->families, b->id, "other", "x"), 0);
	family = find(get_model(f), b);
	assert_int_equal(family->problem_count, 2);
	assert_string_equal(family->problems[0].code, "listen");
	assert_string_equal(family->problems[0].message, "taken");
	assert_int_equal(families_set_problem(f->families, b->id, "listen", NULL), 0);
	assert_int_equal(families_set_problem(f->families, b->id, "never", NULL), 0);
	family = find(get_model(f), b);
	assert_int_equal(family->problem_count, 1);
	assert_string_equal(family->problems[0].code, "other");
	builder_destroy(b);
}

static void tells_wishes(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, NO_PID, 10);
	struct family_wish wish;

	memset(b->header->listen, 'l', sizeof(b->header->listen));
	strcpy(b->header->token_file, "/t");
	start(f);
	assert_true(families_wish(f->families, 0, &wish));
	assert_string_equal(wish.id, b->id);
	assert_int_equal(strlen(wish.listen), sizeof(wish.listen) - 1);
	assert_string_equal(wish.token_file, "/t");
	assert_false(wish.ended);
	assert_false(families_wish(f->families, 1, &wish));
	builder_thread_dies(b, FIRST_ROW);
	families_tick(f->families);
	assert_true(families_wish(f->families, 0, &wish));
	assert_true(wish.ended);
	builder_destroy(b);
}

/* --- files --- */

static void removes_what_nobody_needs(void **state)
{
	struct fixture *f = *state;
	struct builder *live = make_family(f, getpid(), 1), *exited = make_family(f, NO_PID, 1);
	struct builder *kept = make_family(f, NO_PID, 1), *killed = make_family(f, NO_PID, 1);
	struct builder *unfinished = builder_create(f->dir, getpid(), SIZE);
	char mark[512], own_mark[512];

	builder_thread_dies(exited, FIRST_ROW);
	exited->header->flags = SEG_FLAG_EXITED;
	builder_thread_dies(kept, FIRST_ROW);
	kept->header->flags = SEG_FLAG_EXITED | SEG_FLAG_KEEP;
	builder_thread_dies(killed, FIRST_ROW);
	snprintf(mark, sizeof(mark), "%s/%d-5f.failed.ENOSPC", f->dir, NO_PID);
	snprintf(own_mark, sizeof(own_mark), "%s/%d-5f.failed.ENOSPC", f->dir, getpid());
	fclose(fopen(mark, "w"));
	fclose(fopen(own_mark, "w"));
	start(f);
	assert_int_equal(families_prune(f->families), 0);
	assert_true(file_there(live));
	assert_false(file_there(exited));
	assert_true(file_there(kept));
	assert_true(file_there(killed));
	assert_true(file_there(unfinished));
	assert_int_equal(access(mark, F_OK), -1);
	assert_int_equal(access(own_mark, F_OK), 0);
	builder_destroy(live);
	builder_destroy(exited);
	builder_destroy(kept);
	builder_destroy(killed);
	builder_destroy(unfinished);
}

/* A shell that execs: its segment is dead, its pid has another one and lives. */
static void removes_what_exec_replaced(void **state)
{
	struct fixture *f = *state;
	struct builder *shell = make_family(f, getpid(), 1), *program = make_family(f, getpid(), 1);
	struct builder *crashed = make_family(f, NO_PID, 1);

	builder_thread_dies(shell, FIRST_ROW);
	builder_thread_dies(crashed, FIRST_ROW);
	start(f);
	assert_int_equal(families_prune(f->families), 0);
	assert_false(file_there(shell));
	assert_true(file_there(program));
	assert_true(file_there(crashed));
	builder_destroy(shell);
	builder_destroy(program);
	builder_destroy(crashed);
}

/* A daemon: its parent has exited, it has not allocated since the fork, and no row tells of it. */
static void lives_as_long_as_it_is_mapped(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, NO_PID, 1);

	builder_thread_dies(b, FIRST_ROW);
	b->header->flags = SEG_FLAG_EXITED;
	lease_fake = 1;
	start(f);
	assert_int_equal(families_prune(f->families), 0);
	assert_true(file_there(b));
	assert_int_equal(families_live(f->families), 1);
	lease_fake = 0;
	families_tick(f->families);
	assert_int_equal(families_live(f->families), 0);
	assert_int_equal(families_prune(f->families), 0);
	assert_false(file_there(b));
	lease_fake = -EINVAL;
	builder_destroy(b);
}

static void keeps_the_newest_dead_segments(void **state)
{
	struct fixture *f = *state;
	struct builder *b[DEAD_MAX + 5];

	for (int i = 0; i < DEAD_MAX + 5; i++) {
		b[i] = make_family(f, NO_PID - i, 1);
		builder_thread_dies(b[i], FIRST_ROW);
		usleep(5000); /* another tick of the file system's clock */
	}
	b[1]->header->flags = SEG_FLAG_KEEP;
	start(f);
	assert_int_equal(families_prune(f->families), 0);
	for (int i = 0; i < DEAD_MAX + 5; i++) {
		assert_int_equal(file_there(b[i]), i == 1 || i >= 5);
		builder_destroy(b[i]);
	}
}

/* Its threads are gone, but the process may register another one. */
static void does_not_remove_what_may_come_back(void **state)
{
	struct fixture *f = *state;
	struct builder *b = make_family(f, NO_PID, 1);
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	builder_thread_dies(b, FIRST_ROW);
	builder_process(b, child);
	b->header->flags = SEG_FLAG_EXITED;
	start(f);
	assert_int_equal(families_prune(f->families), 0);
	assert_true(file_there(b));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(families_prune(f->families), 0);
	assert_false(file_there(b));
	builder_destroy(b);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(finds_families_that_are_there),
		T(sees_families_appear),
		T(waits_until_a_segment_is_ready),
		T(ignores_other_files),
		T(refuses_a_directory_of_all),
		T(rescan_finds_what_events_have_not_told),
		T(the_dead_are_no_families_at_the_start),
		T(the_short_lived_are_shown),
		T(ended_families_keep_their_last_counts),
		T(a_family_comes_back_to_life),
		T(only_so_many_ended_ones_are_kept),
		T(too_many_families_are_told),
		T(a_truncated_segment_is_told),
		T(rates_are_those_of_the_last_second),
		T(a_young_family_has_a_rate_at_once),
		T(the_one_that_allocates_most_comes_first),
		T(names_processes_and_threads),
		T(does_not_believe_a_younger_process),
		T(names_sites),
		T(tells_problems_as_sentences),
		T(sets_and_takes_away_problems),
		T(tells_wishes),
		T(removes_what_nobody_needs),
		T(removes_what_exec_replaced),
		T(lives_as_long_as_it_is_mapped),
		T(keeps_the_newest_dead_segments),
		T(does_not_remove_what_may_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

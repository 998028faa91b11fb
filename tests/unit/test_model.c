/* SPDX-License-Identifier: MIT */
/*
 * test_model.c - what snapshots add up to: sites by address and kind, sums on every level, bases
 * for the rates also when rows were folded in between.
 */
#include "dashboard/model_build.h"
#include "dashboard/segment_reader.h"
#include "tests/unit/segment_builder.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PID 4242

struct fixture {
	char *dir;
	int dirfd;
	struct builder *b;
	struct segment *segment;
	struct snapshot base, now;
	struct family_store store;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dir = builder_dir_create();
	f->dirfd = open(f->dir, O_RDONLY | O_DIRECTORY);
	f->b = builder_create(f->dir, PID, 4u << 20);
	builder_publish(f->b);
	assert_int_equal(segment_open(f->dirfd, f->b->name, geteuid(), &f->segment), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	segment_close(f->segment);
	snapshot_free(&f->base);
	snapshot_free(&f->now);
	family_store_free(&f->store);
	builder_destroy(f->b);
	close(f->dirfd);
	builder_dir_remove(f->dir);
	free(f);
	return 0;
}

static void take_base(struct fixture *f)
{
	assert_int_equal(segment_read(f->segment, &f->base), 0);
	snapshot_trim(&f->base);
}

static bool same(const struct counts *a, const struct counts *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void plus(struct counts *sum, const struct counts *add)
{
	for (size_t i = 0; i < sizeof(*sum) / sizeof(uint64_t); i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)add)[i];
}

static bool below(const struct counts *base, const struct counts *total)
{
	for (size_t i = 0; i < sizeof(*base) / sizeof(uint64_t); i++)
		if (((const uint64_t *)base)[i] > ((const uint64_t *)total)[i])
			return false;
	return true;
}

/* Every level has the same sum, in totals and in bases. */
static void check_sums(const struct family *family)
{
	struct counts threads[2] = {0}, sites[2] = {0}, cells[2] = {0};

	for (size_t i = 0; i < family->thread_count; i++) {
		struct counts own[2] = {0};

		for (size_t j = 0; j < family->threads[i].cell_count; j++) {
			const struct cell *cell = &family->cells[family->threads[i].first_cell + j];

			assert_true(below(&cell->base, &cell->total));
			plus(&own[0], &cell->total);
			plus(&own[1], &cell->base);
		}
		assert_true(same(&own[0], &family->threads[i].total));
		assert_true(same(&own[1], &family->threads[i].base));
		plus(&threads[0], &family->threads[i].total);
		plus(&threads[1], &family->threads[i].base);
	}
	for (size_t i = 0; i < family->site_count; i++) {
		plus(&sites[0], &family->sites[i].total);
		plus(&sites[1], &family->sites[i].base);
	}
	for (size_t i = 0; i < family->cell_count; i++) {
		plus(&cells[0], &family->cells[i].total);
		plus(&cells[1], &family->cells[i].base);
	}
	assert_true(same(&threads[0], &family->total));
	assert_true(same(&threads[1], &family->base));
	assert_true(same(&sites[0], &family->total));
	assert_true(same(&sites[1], &family->base));
	assert_true(same(&cells[0], &family->total));
	assert_true(same(&cells[1], &family->base));
}

static const struct family *build(struct fixture *f)
{
	const struct snapshot *base = f->base.taken_mono_ns ? &f->base : NULL;

	assert_int_equal(segment_read(f->segment, &f->now), 0);
	assert_int_equal(model_build(&f->store, &f->now, base), 0);
	check_sums(&f->store.family);
	return &f->store.family;
}

static const struct site *find_site(const struct family *family, enum seg_kind kind,
				    uint64_t address)
{
	for (size_t i = 0; i < family->site_count; i++)
		if (family->sites[i].kind == kind && family->sites[i].address == address)
			return &family->sites[i];
	return NULL;
}

static const struct thread *find_thread(const struct family *family, enum thread_role role,
					int32_t id) /* tid, or pid of a sum */
{
	for (size_t i = 0; i < family->thread_count; i++) {
		const struct thread *thread = &family->threads[i];

		if (thread->role == role && (role == THREAD_ONE ? thread->tid : thread->pid) == id)
			return thread;
	}
	return NULL;
}

static const struct process *find_process(const struct family *family, int32_t pid)
{
	for (size_t i = 0; i < family->process_count; i++)
		if (family->processes[i].pid == pid)
			return &family->processes[i];
	return NULL;
}

/* --- totals --- */

static void describes_the_family(void **state)
{
	struct fixture *f = *state;
	const struct family *family;

	strcpy(f->b->header->listen, "off");
	f->b->header->dropped[SEG_DROP_MEMORY] = 3;
	family = build(f);
	assert_int_equal(family->pid, PID);
	assert_string_equal(family->name, "example");
	assert_string_equal(family->exe, "/usr/bin/example");
	assert_string_equal(family->cmdline, "example --port 1");
	assert_string_equal(family->listen, "off");
	assert_int_equal(family->dropped[SEG_DROP_MEMORY], 3);
	assert_int_equal(family->segment_bytes, 4u << 20);
	assert_int_equal(family->window_ns, 0);
	assert_int_equal(family->thread_count, 0); /* rows of sums that are empty are left out */
	memset(f->b->header->exe, '/', sizeof(f->b->header->exe));
	memset(f->b->header->cmdline, 'x', sizeof(f->b->header->cmdline));
	family = build(f);
	assert_int_equal(strlen(family->name), sizeof(family->name) - 1);
	assert_int_equal(strlen(family->cmdline), sizeof(family->cmdline) - 1);
}

static void names_the_family_as_it_was_started(void **state)
{
	static const char *const cases[][3] = {
		/* exe, cmdline, name */
		{"/usr/bin/redis-check-rdb", "redis-server --port 1", "redis-server"},
		{"/usr/bin/redis-check-rdb", "/usr/bin/redis-server *:1", "redis-server"},
		{"/usr/bin/bash", "-bash", "bash"},
		{"/usr/bin/example", "", "example"},
		{"/usr/bin/example", " x", "example"},
		{"/usr/bin/example", "dir/", ""},
		{"", "", ""},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(f->b->header->exe, 0, sizeof(f->b->header->exe));
		memset(f->b->header->cmdline, 0, sizeof(f->b->header->cmdline));
		strcpy(f->b->header->exe, cases[i][0]);
		strcpy(f->b->header->cmdline, cases[i][1]);
		assert_string_equal(build(f)->name, cases[i][2]);
	}
}

static void sums_one_site_over_threads(void **state)
{
	struct fixture *f = *state;
	uint32_t process = builder_process(f->b, PID);
	uint32_t one = builder_thread(f->b, process, 1), two = builder_thread(f->b, process, 2);
	const struct family *family;
	const struct site *site;

	builder_site(f->b, one, SEG_KIND_MALLOC, 0x100, 10, 1000, 1040);
	builder_site(f->b, two, SEG_KIND_MALLOC, 0x100, 5, 500, 520);
	builder_site(f->b, two, SEG_KIND_FREE, 0x200, 7, 700, 0);
	builder_row(f->b, one)->sizes[6] = 10;
	builder_row(f->b, two)->sizes[6] = 5;
	family = build(f);
	assert_int_equal(family->site_count, 2);
	site = find_site(family, SEG_KIND_MALLOC, 0x100);
	assert_int_equal(site->total.alloc_count, 15);
	assert_int_equal(site->total.alloc_bytes, 1500);
	assert_int_equal(site->total.usable_bytes, 1560);
	assert_int_equal(family->total.free_count, 7);
	assert_int_equal(family->total.free_bytes, 700);
	assert_int_equal(family->sizes[6], 15);
	assert_int_equal(find_thread(family, THREAD_ONE, 2)->total.alloc_count, 5);
	assert_int_equal(find_thread(family, THREAD_ONE, 2)->cell_count, 2);
	assert_int_equal(find_process(family, PID)->total.alloc_count, 15);
	assert_int_equal(family->live_threads, 2);
	assert_int_equal(family->live_processes, 1);
}

static void makes_one_site_of_the_kinds_of_realloc(void **state)
{
	struct fixture *f = *state;
	uint32_t row = builder_thread(f->b, builder_process(f->b, PID), 1);
	const struct family *family;
	const struct counts *total;

	builder_site(f->b, row, SEG_KIND_REALLOC_NULL, 0x100, 1, 10, 16);
	builder_site(f->b, row, SEG_KIND_REALLOC, 0x100, 20, 4000, 4100);
	builder_site(f->b, row, SEG_KIND_REALLOC_FREE, 0x100, 21, 3000, 6);
	builder_site(f->b, row, SEG_KIND_REALLOC_GROWN, 0x100, 15, 900, 0);
	builder_site(f->b, row, SEG_KIND_MALLOC, 0x100, 1, 1, 1); /* another kind, another site */
	family = build(f);
	assert_int_equal(family->site_count, 2);
	assert_int_equal(family->cell_count, 2);
	total = &find_site(family, SEG_KIND_REALLOC, 0x100)->total;
	assert_int_equal(total->alloc_count, 21);
	assert_int_equal(total->alloc_bytes, 4010);
	assert_int_equal(total->usable_bytes, 4116);
	assert_int_equal(total->free_count, 21);
	assert_int_equal(total->free_bytes, 3000);
	assert_int_equal(total->realloc_count, 20);
	assert_int_equal(total->realloc_moved, 6);
	assert_int_equal(total->realloc_grown, 15);
	assert_int_equal(total->realloc_copied_bytes, 900);
}

static void unknown_sites_are_one_of_each_kind(void **state)
{
	struct fixture *f = *state;
	uint32_t process = builder_process(f->b, PID);
	uint32_t one = builder_thread(f->b, process, 1), two = builder_thread(f->b, process, 2);
	const struct family *family;

	builder_other(f->b, one, SEG_KIND_NEW, 3, 30, 48);
	builder_other(f->b, two, SEG_KIND_NEW, 4, 40, 64);
	builder_other(f->b, SEG_ROW_SHARED, SEG_KIND_MALLOC, 5, 50, 80);
	builder_other(f->b, SEG_ROW_SHARED, SEG_KIND_FREE, 2, 32, 0);
	family = build(f);
	assert_int_equal(family->site_count, 3);
	assert_int_equal(find_site(family, SEG_KIND_NEW, 0)->total.alloc_count, 7);
	assert_int_equal(find_thread(family, THREAD_SHARED, 0)->total.alloc_count, 5);
	assert_int_equal(family->total.alloc_count, 12);
	assert_int_equal(family->dropped[SEG_DROP_THREADS], 7); /* calls, not allocations */
	assert_int_equal(family->dropped[SEG_DROP_SITES], 7);
}

static void every_kind_goes_where_it_belongs(void **state)
{
	struct fixture *f = *state;
	uint32_t row = builder_thread(f->b, builder_process(f->b, PID), 1);
	const struct family *family;

	for (int kind = SEG_KIND_MALLOC; kind <= SEG_KIND_REALLOC_GROWN; kind++)
		builder_site(f->b, row, (enum seg_kind)kind, (uint64_t)(0x100 + kind), 1, 100, 0);
	family = build(f);
	assert_int_equal(family->total.alloc_count, 7);
	assert_int_equal(family->total.free_count, 4);
	assert_int_equal(family->total.realloc_count, 1);
	assert_int_equal(family->total.realloc_grown, 1);
	assert_int_equal(family->total.realloc_copied_bytes, 100);
	for (int kind = SEG_KIND_MALLOC; kind <= SEG_KIND_DELETE_ARRAY; kind++)
		if (kind != SEG_KIND_REALLOC_NULL)
			assert_non_null(
				find_site(family, (enum seg_kind)kind, (uint64_t)(0x100 + kind)));
}

static void counts_forks_as_processes_of_one_family(void **state)
{
	struct fixture *f = *state;
	uint32_t parent = builder_process(f->b, PID), child = builder_process(f->b, 7);
	uint32_t one = builder_thread(f->b, parent, PID), two = builder_thread(f->b, child, 7);
	uint32_t three = builder_thread(f->b, child, 8), ended;
	const struct family *family;

	builder_site(f->b, one, SEG_KIND_MALLOC, 0x100, 1, 1, 1);
	builder_site(f->b, two, SEG_KIND_MALLOC, 0x100, 20, 1, 1);
	builder_site(f->b, three, SEG_KIND_MALLOC, 0x100, 300, 1, 1);
	ended = builder_ended_row(f->b, child);
	builder_thread_dies(f->b, three);
	builder_fold(f->b, ended, three);
	family = build(f);
	assert_int_equal(family->process_count, 2);
	assert_int_equal(find_process(family, PID)->total.alloc_count, 1);
	assert_int_equal(find_process(family, 7)->total.alloc_count, 320);
	assert_int_equal(find_process(family, 7)->live_threads, 1);
	assert_int_equal(find_process(family, 7)->threads_started, 2);
	assert_int_equal(find_thread(family, THREAD_ENDED, 7)->total.alloc_count, 300);
	assert_int_equal(family->total.alloc_count, 321);
	builder_thread_dies(f->b, one);
	family = build(f);
	assert_int_equal(family->live_processes, 1);
	assert_int_equal(family->processes[0].pid, 7); /* living ones first */
	assert_true(find_process(family, PID)->ended);
}

static void unknown_process_index_loses_no_counts(void **state)
{
	struct fixture *f = *state;
	uint32_t row = builder_thread(f->b, builder_process(f->b, PID), 1);
	const struct family *family;

	builder_site(f->b, row, SEG_KIND_MALLOC, 0x100, 9, 9, 9);
	builder_row(f->b, row)->process = UINT32_MAX;
	family = build(f);
	assert_int_equal(family->total.alloc_count, 9);
	assert_int_equal(find_thread(family, THREAD_ONE, 1)->pid, 0);
}

static void huge_counts_do_not_wrap(void **state)
{
	struct fixture *f = *state;
	uint32_t process = builder_process(f->b, PID);
	uint32_t one = builder_thread(f->b, process, 1), two = builder_thread(f->b, process, 2);

	builder_site(f->b, one, SEG_KIND_MALLOC, 0x100, UINT64_MAX - 1, 1, 1);
	builder_site(f->b, two, SEG_KIND_MALLOC, 0x100, 5, 1, 1);
	assert_int_equal(segment_read(f->segment, &f->now), 0);
	assert_int_equal(model_build(&f->store, &f->now, NULL), 0);
	assert_true(f->store.family.total.alloc_count == UINT64_MAX);
}

/* --- bases --- */

static void bases_are_those_of_the_same_thread_and_site(void **state)
{
	struct fixture *f = *state;
	uint32_t process = builder_process(f->b, PID);
	uint32_t one = builder_thread(f->b, process, 1), two;
	const struct family *family;

	builder_site(f->b, one, SEG_KIND_MALLOC, 0x100, 10, 1000, 1040);
	take_base(f);
	builder_site(f->b, one, SEG_KIND_MALLOC, 0x100, 5, 500, 520);
	builder_site(f->b, one, SEG_KIND_MALLOC, 0x200, 3, 3, 3);
	two = builder_thread(f->b, process, 2);
	builder_site(f->b, two, SEG_KIND_MALLOC, 0x100, 100, 1, 1);
	family = build(f);
	assert_true(family->window_ns > 0);
	assert_int_equal(find_site(family, SEG_KIND_MALLOC, 0x100)->base.alloc_count, 10);
	assert_int_equal(find_site(family, SEG_KIND_MALLOC, 0x100)->total.alloc_count, 115);
	assert_int_equal(find_site(family, SEG_KIND_MALLOC, 0x200)->base.alloc_count, 0);
	assert_int_equal(find_thread(family, THREAD_ONE, 1)->base.alloc_count, 10);
	assert_int_equal(find_thread(family, THREAD_ONE, 2)->base.alloc_count, 0);
	assert_int_equal(find_process(family, PID)->base.alloc_count, 10);
}

static void ended_row_inherits_the_base_of_folded_threads(void **state)
{
	struct fixture *f = *state;
	uint32_t process = builder_process(f->b, PID);
	uint32_t one = builder_thread(f->b, process, 1), two = builder_thread(f->b, process, 2);
	uint32_t ended = builder_ended_row(f->b, process);
	const struct thread *sum;
	const struct family *family;

	builder_site(f->b, ended, SEG_KIND_MALLOC, 0x100, 1000, 1, 1);
	builder_site(f->b, one, SEG_KIND_MALLOC, 0x100, 50, 1, 1);
	builder_site(f->b, one, SEG_KIND_FREE, 0x300, 40, 1, 0);
	builder_site(f->b, two, SEG_KIND_MALLOC, 0x100, 7, 1, 1);
	take_base(f);
	builder_site(f->b, one, SEG_KIND_MALLOC, 0x100, 3, 1, 1); /* its last three */
	builder_thread_dies(f->b, one);
	builder_fold(f->b, ended, one);
	family = build(f);
	sum = find_thread(family, THREAD_ENDED, PID);
	assert_int_equal(sum->total.alloc_count, 1053);
	assert_int_equal(sum->base.alloc_count, 1050);
	assert_int_equal(sum->base.free_count, 40);
	assert_int_equal(family->total.alloc_count - family->base.alloc_count, 3);
	assert_int_equal(find_site(family, SEG_KIND_MALLOC, 0x100)->base.alloc_count, 1057);
}

/* The first thread that ends becomes the ended row itself. */
static void a_thread_that_turns_into_the_ended_row_keeps_its_base(void **state)
{
	struct fixture *f = *state;
	uint32_t process = builder_process(f->b, PID);
	uint32_t one = builder_thread(f->b, process, 1);
	const struct family *family;

	builder_thread(f->b, process, 2);
	builder_site(f->b, one, SEG_KIND_MALLOC, 0x100, 50, 1, 1);
	take_base(f);
	builder_site(f->b, one, SEG_KIND_MALLOC, 0x100, 2, 1, 1);
	builder_thread_dies(f->b, one);
	builder_row(f->b, one)->state = SEG_THREAD_ENDED;
	builder_process_row(f->b, process)->ended_row = one;
	family = build(f);
	assert_int_equal(find_thread(family, THREAD_ENDED, PID)->base.alloc_count, 50);
	assert_int_equal(family->base.alloc_count, 50);
}

static void folded_processes_go_to_the_familys_ended_row(void **state)
{
	struct fixture *f = *state;
	uint32_t parent = builder_process(f->b, PID), child = builder_process(f->b, 7);
	uint32_t one = builder_thread(f->b, parent, PID), two = builder_thread(f->b, child, 7);
	uint32_t ended = builder_ended_row(f->b, child);
	struct seg_process *row = builder_process_row(f->b, child);
	const struct family *family;

	builder_site(f->b, one, SEG_KIND_MALLOC, 0x100, 1, 1, 1);
	builder_site(f->b, ended, SEG_KIND_MALLOC, 0x100, 200, 1, 1);
	builder_site(f->b, two, SEG_KIND_MALLOC, 0x100, 20, 1, 1);
	take_base(f);
	builder_site(f->b, two, SEG_KIND_MALLOC, 0x100, 4, 1, 1);
	builder_thread_dies(f->b, two);
	builder_fold(f->b, SEG_ROW_ENDED, two);
	builder_fold(f->b, SEG_ROW_ENDED, ended);
	row->generation++; /* and a new process in the same row, with the same pid even */
	row->ended_row = 0;
	builder_site(f->b, builder_ended_row(f->b, child), SEG_KIND_MALLOC, 0x100, 500, 1, 1);
	builder_site(f->b, builder_thread(f->b, child, 9), SEG_KIND_MALLOC, 0x100, 6, 1, 1);
	family = build(f);
	assert_int_equal(find_thread(family, THREAD_ENDED, 0)->total.alloc_count, 224);
	assert_int_equal(find_thread(family, THREAD_ENDED, 0)->base.alloc_count, 220);
	assert_int_equal(family->total.alloc_count - family->base.alloc_count, 510);
	assert_int_equal(find_process(family, 7)->base.alloc_count, 0);
}

/* A fold that finds no room for a site adds its counts to those of unknown sites. */
static void base_follows_counts_that_lost_their_site(void **state)
{
	struct fixture *f = *state;
	uint32_t process = builder_process(f->b, PID);
	uint32_t one = builder_thread(f->b, process, 1);
	const struct family *family;

	builder_site(f->b, one, SEG_KIND_MALLOC, 0x100, 50, 1, 1);
	take_base(f);
	builder_other(f->b, SEG_ROW_ENDED, SEG_KIND_MALLOC, 52, 2, 2);
	memset(builder_row(f->b, one), 0, sizeof(struct seg_thread));
	family = build(f);
	assert_int_equal(family->total.alloc_count, 52);
	assert_int_equal(family->base.alloc_count, 50);
	assert_null(find_site(family, SEG_KIND_MALLOC, 0x100));
}

static void base_is_never_above_total(void **state)
{
	struct fixture *f = *state;
	uint32_t row = builder_thread(f->b, builder_process(f->b, PID), 1);
	struct seg_thread *thread = builder_row(f->b, row);
	const struct family *family;

	builder_site(f->b, row, SEG_KIND_MALLOC, 0x100, 50, 500, 600);
	builder_other(f->b, row, SEG_KIND_NEW, 9, 9, 9);
	take_base(f);
	thread->other[SEG_KIND_NEW].count = 4; /* no honest segment does that */
	family = build(f);
	assert_int_equal(family->total.alloc_count, 54);
	assert_int_equal(family->base.alloc_count, 54);
	assert_true(below(&family->base, &family->total));
}

/* --- questions --- */

static void rates_are_per_second(void **state)
{
	(void)state;
	assert_true(model_rate(300, 100, 2000000000) == 100.0);
	assert_true(model_rate(300, 100, 0) == 0);
	assert_true(model_rate(100, 300, 1000) == 0);
	assert_true(model_rate(UINT64_MAX, 0, 1000000000) > 1.8e19);
}

static void finds_families_by_any_pid(void **state)
{
	struct process members[] = {{.pid = 10}, {.pid = 11}}, other[] = {{.pid = 11}};
	struct family list[] = {
		{.pid = 10, .processes = members, .process_count = 2},
		{.pid = 11, .processes = other, .process_count = 1},
		{.pid = 20, .ended = true},
		{.pid = 20},
		{.pid = 30, .ended = true},
	};
	struct model model = {.families = list, .family_count = 5};

	(void)state;
	assert_ptr_equal(model_find(&model, 10), &list[0]);
	assert_ptr_equal(model_find(&model, 11), &list[1]); /* the family's own pid is better */
	assert_ptr_equal(model_find(&model, 20), &list[3]); /* a living one is better */
	assert_ptr_equal(model_find(&model, 30), &list[4]);
	assert_null(model_find(&model, 12));
	other[0].pid = 99;
	list[1].pid = 99;
	assert_ptr_equal(model_find(&model, 11), &list[0]);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(describes_the_family),
		T(names_the_family_as_it_was_started),
		T(sums_one_site_over_threads),
		T(makes_one_site_of_the_kinds_of_realloc),
		T(unknown_sites_are_one_of_each_kind),
		T(every_kind_goes_where_it_belongs),
		T(counts_forks_as_processes_of_one_family),
		T(unknown_process_index_loses_no_counts),
		T(huge_counts_do_not_wrap),
		T(bases_are_those_of_the_same_thread_and_site),
		T(ended_row_inherits_the_base_of_folded_threads),
		T(a_thread_that_turns_into_the_ended_row_keeps_its_base),
		T(folded_processes_go_to_the_familys_ended_row),
		T(base_follows_counts_that_lost_their_site),
		T(base_is_never_above_total),
		cmocka_unit_test(rates_are_per_second),
		cmocka_unit_test(finds_families_by_any_pid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

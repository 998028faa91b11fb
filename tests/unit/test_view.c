/* SPDX-License-Identifier: MIT */
/*
 * test_view.c - which rows, in which order.
 */
#include "dashboard/view.h"
#include "tests/unit/model_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define ALL_KINDS ~0u

static const struct family *family(void)
{
	return &fixture_model.families[0];
}

/* Indexes of the sites in the view, as text. */
static void expect_sites(struct view_options options, const char *expected)
{
	struct site_view view;
	char order[64] = "";

	if (!options.kinds)
		options.kinds = ALL_KINDS;
	if (!options.limit)
		options.limit = 100;
	assert_int_equal(view_sites(family(), &options, &view), 0);
	for (size_t i = 0; i < view.row_count; i++)
		snprintf(order + strlen(order), sizeof order - strlen(order), "%d",
			 (int)(view.rows[i].site - family()->sites));
	assert_string_equal(order, expected);
	view_sites_destroy(&view);
}

static void expect_threads(struct view_options options, const char *expected)
{
	struct thread_view view;
	char order[64] = "";

	if (!options.limit)
		options.limit = 100;
	assert_int_equal(view_threads(family(), &options, &view), 0);
	for (size_t i = 0; i < view.row_count; i++)
		snprintf(order + strlen(order), sizeof order - strlen(order), "%d",
			 (int)(view.rows[i].thread - family()->threads));
	assert_string_equal(order, expected);
	view_threads_destroy(&view);
}

static void test_site_order(void **state)
{
	(void)state;
	/* By the second: 1 (600), 0 (100); then all without any, by alloc_count, then address. */
	expect_sites((struct view_options){.sort = VIEW_ALLOCS_PER_S}, "103425");
	/* Ties do not turn round with the order. */
	expect_sites((struct view_options){.sort = VIEW_ALLOCS_PER_S, .ascending = true}, "342501");
	expect_sites((struct view_options){.sort = VIEW_ALLOCS_PER_S, .since = VIEW_START},
		     "013425");
	expect_sites((struct view_options){.sort = VIEW_ALLOC_COUNT, .limit = 2}, "01");
	expect_sites((struct view_options){.sort = VIEW_FREES_PER_S}, "235014");
	expect_sites((struct view_options){.sort = VIEW_FREES_PER_S, .since = VIEW_START},
		     "235014");
	expect_sites((struct view_options){.sort = VIEW_MEAN_BYTES}, "134025");
	expect_sites((struct view_options){.sort = VIEW_REALLOC_COPIED_BYTES, .limit = 1}, "3");
	expect_sites((struct view_options){.sort = VIEW_NAME, .ascending = true}, "340521");
}

static void test_site_selection(void **state)
{
	(void)state;
	expect_sites((struct view_options){.kinds = 1u << SEG_KIND_NEW}, "1");
	expect_sites((struct view_options){.kinds = 1u << SEG_KIND_ALIGNED}, "");
	expect_sites((struct view_options){.filter = "ALPHA"}, "05");
	expect_sites((struct view_options){.filter = "libc.so"}, "2");
	expect_sites((struct view_options){.filter = "0x7FFF"}, "4");
	expect_sites((struct view_options){.filter = "not known"}, "3");
	expect_sites((struct view_options){.filter = "nothing like it"}, "");
}

static void test_sites_of_a_thread(void **state)
{
	const struct thread *main_thread = &family()->threads[0];
	struct view_options options = {
		.thread = main_thread, .kinds = ALL_KINDS, .limit = 1, .sort = VIEW_ALLOC_COUNT};
	struct site_view view;

	(void)state;
	assert_int_equal(view_sites(family(), &options, &view), 0);
	assert_int_equal(view.total, 2);
	assert_int_equal(view.matched, 2);
	assert_int_equal(view.row_count, 1);
	assert_int_equal(view.rows[0].total.alloc_count, 900);
	assert_int_equal(view.rows[0].base.alloc_count, 400);
	assert_int_equal(view.sum_total.free_count, 100);
	view_sites_destroy(&view);
	expect_sites((struct view_options){.member = 100, .sort = VIEW_FREE_COUNT}, "21");
	expect_sites((struct view_options){.member = 101}, "14");
	expect_sites((struct view_options){.member = 999}, "");
}

static void test_thread_order(void **state)
{
	(void)state;
	expect_threads((struct view_options){.sort = VIEW_ALLOCS_PER_S}, "02431");
	expect_threads((struct view_options){.sort = VIEW_TID, .ascending = true}, "43021");
	expect_threads((struct view_options){.sort = VIEW_NET_BYTES}, "02431");
	expect_threads((struct view_options){.sort = VIEW_NET_BYTES, .ascending = true}, "14320");
	expect_threads((struct view_options){.sort = VIEW_NAME, .ascending = true}, "43201");
	expect_threads((struct view_options){.state = VIEW_LIVE}, "041");
	expect_threads((struct view_options){.state = VIEW_ENDED}, "23");
	expect_threads((struct view_options){.member = 101}, "2");
	expect_threads((struct view_options){.filter = "RKER"}, "1");
	expect_threads((struct view_options){.limit = 1}, "0");
}

static void test_find_thread(void **state)
{
	struct thread threads[] = {
		{.role = THREAD_ONE, .tid = 5, .pid = 1, .ended = true, .serial = 9},
		{.role = THREAD_ONE, .tid = 5, .pid = 1, .serial = 3},
		{.role = THREAD_ONE, .tid = 5, .pid = 2, .ended = true, .serial = 4},
		{.role = THREAD_ONE, .tid = 5, .pid = 2, .ended = true, .serial = 6},
		{.role = THREAD_ENDED, .tid = 0, .pid = 2},
	};
	struct family one = {.threads = threads, .thread_count = 5};

	(void)state;
	assert_ptr_equal(view_find_thread(&one, 5, 0), &threads[1]);
	assert_ptr_equal(view_find_thread(&one, 5, 2), &threads[3]);
	assert_null(view_find_thread(&one, 0, 0));
	assert_null(view_find_thread(&one, 6, 0));
}

static void test_names(void **state)
{
	static const char *const expected[] = {
		"alpha+0x12",	    "std::vector<int>::grow(\"x\\y\")+0x1f",
		"libc.so.6+0x3000", "(site not known)",
		"0x7fffffffffff",   "alpha+0x0"};

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		char *name = view_site_name(&family()->sites[i]);

		assert_string_equal(name, expected[i]);
		free(name);
	}
	assert_string_equal(view_base_name("a"), "a");
	assert_string_equal(view_base_name("/"), "/");
	assert_string_equal(view_base_name("/a/b/"), "/a/b/");
}

static void test_window(void **state)
{
	struct family young = {.started_ns = 100, .window_ns = 7};

	(void)state;
	assert_int_equal(view_window_ns(&young, 150, VIEW_SECOND), 7);
	assert_int_equal(view_window_ns(&young, 150, VIEW_START), 50);
	assert_int_equal(view_window_ns(&young, 50, VIEW_START), 0); /* the clock was set back */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_site_order),
		cmocka_unit_test(test_site_selection),
		cmocka_unit_test(test_sites_of_a_thread),
		cmocka_unit_test(test_thread_order),
		cmocka_unit_test(test_find_thread),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

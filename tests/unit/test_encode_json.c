/* SPDX-License-Identifier: MIT */
/*
 * test_encode_json.c - the answers, byte for byte, against golden/NAME.json. To write those anew,
 * run with HEAPTAP_GOLDEN=write and look at the difference.
 */
#include "dashboard/encode_json.h"
#include "dashboard/openapi.h"
#include "tests/unit/model_fixture.h"
#include "tests/unit/schema_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct view_options options = {.limit = 100, .kinds = ~0u};

static const struct family *family(void)
{
	return &fixture_model.families[0];
}

static void read_file(const char *path, struct buf *out)
{
	FILE *file = fopen(path, "r");
	char *room;

	assert_non_null(file);
	room = buf_reserve(out, 1 << 20);
	assert_non_null(room);
	out->size = fread(room, 1, 1 << 20, file);
	out->data[out->size] = '\0';
	fclose(file);
}

static void write_file(const char *path, const struct buf *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fwrite(text->data, 1, text->size, file);
	fclose(file);
}

static void check_utf8(const char *text)
{
	while (*text) {
		size_t length = utf8_sequence(text);

		assert_int_not_equal(length, 0);
		text += length;
	}
}

/* Takes `out`. */
static void expect(struct buf *out, const char *name, const char *schema)
{
	char path[512], why[256] = "";
	struct buf golden = {0};

	assert_false(out->failed);
	check_utf8(out->data);
	if (!schema_check(openapi_json, schema, out->data, why))
		fail_msg("%s", why);
	buf_add_text(out, "\n");
	snprintf(path, sizeof path, "%s/%s.json", GOLDEN_DIR, name);
	if (getenv("HEAPTAP_GOLDEN"))
		write_file(path, out);
	read_file(path, &golden);
	assert_string_equal(out->data, golden.data);
	buf_destroy(&golden);
	buf_destroy(out);
}

static void test_summary(void **state)
{
	struct buf out = {0};

	(void)state;
	encode_json_summary(&out, &fixture_model, family(), VIEW_SECOND);
	assert_non_null(strstr(out.data, "\"alloc_count\":18446744073709551615"));
	assert_non_null(strstr(out.data, "\"alloc_bytes\":9007199254740993"));
	assert_non_null(strstr(out.data, "\"live_bytes\":-2000"));
	assert_non_null(strstr(out.data, "\"allocs_per_s\":100.0"));
	expect(&out, "summary", "Summary");
}

static void test_summary_of_nothing(void **state)
{
	struct buf out = {0};

	(void)state;
	encode_json_summary(&out, &fixture_model, &fixture_model.families[1], VIEW_START);
	expect(&out, "summary_empty", "Summary");
}

static void test_processes(void **state)
{
	struct buf out = {0};

	(void)state;
	encode_json_processes(&out, &fixture_model, NULL, VIEW_SECOND);
	expect(&out, "processes", "Processes");
	encode_json_processes(&out, &fixture_empty, NULL, VIEW_SECOND);
	expect(&out, "processes_empty", "Processes");
}

static void test_threads(void **state)
{
	struct thread_view view;
	struct buf out = {0};

	(void)state;
	assert_int_equal(view_threads(family(), &options, &view), 0);
	encode_json_threads(&out, &fixture_model, family(), &options, &view);
	assert_non_null(strstr(out.data, "\"net_bytes\":-67200"));
	expect(&out, "threads", "Threads");
	view_threads_destroy(&view);
}

static void test_thread(void **state)
{
	struct view_options narrowed = options;
	struct site_view view;
	struct buf out = {0};

	(void)state;
	narrowed.thread = &family()->threads[0];
	assert_int_equal(view_sites(family(), &narrowed, &view), 0);
	encode_json_thread(&out, &fixture_model, family(), narrowed.thread, &narrowed, &view);
	expect(&out, "thread", "Thread");
	view_sites_destroy(&view);
}

static void test_sites(void **state)
{
	struct site_view view;
	struct buf out = {0};

	(void)state;
	assert_int_equal(view_sites(family(), &options, &view), 0);
	encode_json_sites(&out, &fixture_model, family(), &options, &view);
	assert_non_null(strstr(out.data, "\"alloc_count\":9007199254740993"));
	expect(&out, "sites", "Sites");
	view_sites_destroy(&view);
}

static void test_small_ones(void **state)
{
	struct buf out = {0};

	(void)state;
	encode_json_health(&out, 3);
	expect(&out, "health", "Health");
	encode_json_error(&out, "bad_parameter", "\xff\"\n\x01");
	expect(&out, "error", "Error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary),	   cmocka_unit_test(test_summary_of_nothing),
		cmocka_unit_test(test_processes),  cmocka_unit_test(test_threads),
		cmocka_unit_test(test_thread),	   cmocka_unit_test(test_sites),
		cmocka_unit_test(test_small_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

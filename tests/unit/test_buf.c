/* SPDX-License-Identifier: MIT */
/*
 * test_buf.c - growable bytes, and what becomes of bytes that are no UTF-8.
 */
#include "dashboard/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FFFD "\xef\xbf\xbd"

static void test_grows(void **state)
{
	struct buf buf = {0};

	(void)state;
	for (int i = 0; i < 10000; i++)
		buf_printf(&buf, "%d,", i);
	assert_false(buf.failed);
	assert_int_equal(buf.size, strlen(buf.data));
	assert_memory_equal(buf.data, "0,1,2,", 6);
	assert_string_equal(buf.data + buf.size - 5, "9999,");
	buf_clear(&buf);
	assert_string_equal(buf.data, "");
	buf_add(&buf, "a\0b", 3);
	assert_int_equal(buf.size, 3);
	buf_destroy(&buf);
	assert_null(buf.data);
}

static void test_failure_sticks(void **state)
{
	struct buf buf = {0};

	(void)state;
	buf_add_text(&buf, "kept");
	assert_null(buf_reserve(&buf, SIZE_MAX));
	assert_true(buf.failed);
	buf_add_text(&buf, "ignored");
	assert_string_equal(buf.data, "kept");
	buf_clear(&buf);
	assert_false(buf.failed);
	buf_destroy(&buf);
}

static void test_utf8(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"plain", "plain"},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa5", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa5"},
		{"a\xff"
		 "b",
		 "a" FFFD "b"},
		{"\xc3", FFFD},
		{"\xc3(", FFFD "("},
		{"\x80\x80", FFFD FFFD},
		{"\xc0\xaf", FFFD FFFD},		   /* overlong '/' */
		{"\xe0\x80\xaf", FFFD FFFD FFFD},	   /* overlong, three bytes */
		{"\xf0\x80\x80\xaf", FFFD FFFD FFFD FFFD}, /* overlong, four bytes */
		{"\xed\xa0\x80", FFFD FFFD FFFD},	   /* surrogate */
		{"\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD}, /* above U+10FFFF */
		{"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},  /* U+10FFFF */
		{"\xf8\x88\x80\x80\x80", FFFD FFFD FFFD FFFD FFFD},
		{"\xe2\x82", FFFD FFFD}, /* ends in the middle */
		{"\xe2\x82\xac\xe2", "\xe2\x82\xac" FFFD},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct buf buf = {0};

		buf_add_utf8(&buf, cases[i][0]);
		assert_string_equal(buf.data, cases[i][1]);
		buf_destroy(&buf);
	}
}

static void test_json(void **state)
{
	static const char *const cases[][2] = {
		{NULL, "null"},
		{"", "\"\""},
		{"a\"b\\c/", "\"a\\\"b\\\\c/\""},
		{"\n\x1f\x7f", "\"\\u000a\\u001f\\u007f\""},
		{"<script>", "\"<script>\""},
		{"\xff", "\"" FFFD "\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct buf buf = {0};

		buf_add_json(&buf, cases[i][0]);
		assert_string_equal(buf.data, cases[i][1]);
		buf_destroy(&buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_failure_sticks),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

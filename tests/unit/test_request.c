/* SPDX-License-Identifier: MIT */
/*
 * test_request.c - request targets, good and bad.
 */
#include "dashboard/content.h"
#include "dashboard/request.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct request request;
static char why[256];

static int parse(const char *target)
{
	return request_parse(&request, "GET", target, why, sizeof why);
}

static void test_good_targets(void **state)
{
	static const char *const cases[][4] = {
		/* target, path, first name, first value */
		{"/", "/"},
		{"/a%20b", "/a b"},
		{"/a+b", "/a+b"},
		{"/%C3%a9", "/\xc3\xa9"},
		{"/x?", "/x"},
		{"/x?a", "/x", "a", ""},
		{"/x?a=", "/x", "a", ""},
		{"/x?a=b=c", "/x", "a", "b=c"},
		{"/x?&&a=1&", "/x", "a", "1"},
		{"/x?a=1+2%2b", "/x", "a", "1 2+"},
		{"/x?%61=%3d", "/x", "a", "="},
		{"/x?a=1#fragment", "/x", "a", "1"},
		{"/x?a=b?c", "/x", "a", "b?c"},
		{"http://host:1/x?a=1", "/x", "a", "1"},
		{"http://host", ""},
		{"/x?u=http://host/", "/x", "u", "http://host/"},
		{"*", "*"},
		{"", ""},
		{"/%2e%2e/%2fetc", "/..//etc"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(parse(cases[i][0]), 0);
		assert_string_equal(request.path, cases[i][1]);
		assert_int_equal(request.param_count, cases[i][2] ? 1 : 0);
		if (!cases[i][2])
			continue;
		assert_string_equal(request.params[0].name, cases[i][2]);
		assert_string_equal(request.params[0].value, cases[i][3]);
	}
}

static void test_bad_targets(void **state)
{
	static const char *const cases[][2] = {
		{"/%", "two hexadecimal digits"},
		{"/%4", "two hexadecimal digits"},
		{"/%4g", "two hexadecimal digits"},
		{"/%g4", "two hexadecimal digits"},
		{"/%00", "%00"},
		{"/x?a=%00", "%00"},
		{"/x?a=%", "two hexadecimal digits"},
		{"/x?filter=%ff", "filter: not valid UTF-8"},
		{"/x?a=%c0%af", "not valid UTF-8"},
		{"/%e0%80%af", "not valid UTF-8"},
		{"/x?a=%ed%a0%80", "not valid UTF-8"},
		{"/x?%ff=1", "number 1"},
		{"/x\xff", "not valid UTF-8"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(parse(cases[i][0]), -EINVAL);
		assert_non_null(strstr(why, cases[i][1]));
	}
}

static void test_limits(void **state)
{
	static char target[REQUEST_TARGET_MAX + 2];

	(void)state;
	memset(target, 'x', sizeof target - 1);
	target[0] = '/';
	assert_int_equal(parse(target), -ENAMETOOLONG);
	target[REQUEST_TARGET_MAX] = '\0';
	assert_int_equal(parse(target), 0);
	strcpy(target, "/x?a");
	for (unsigned i = 1; i < REQUEST_PARAMS; i++)
		strcat(target, "&a=1");
	assert_int_equal(parse(target), 0);
	assert_int_equal(request.param_count, REQUEST_PARAMS);
	strcat(target, "&a");
	assert_int_equal(parse(target), -EINVAL);
}

static void test_accepts_gzip(void **state)
{
	(void)state;
	assert_false(content_accepts_gzip(NULL));
	assert_false(content_accepts_gzip(""));
	assert_false(content_accepts_gzip("br, deflate"));
	assert_false(content_accepts_gzip("gzipped"));
	assert_false(content_accepts_gzip("gzip;q=0"));
	assert_false(content_accepts_gzip("gzip; q=0.000, br"));
	assert_false(content_accepts_gzip("*, gzip;q=0"));
	assert_false(content_accepts_gzip("*;q=0"));
	assert_true(content_accepts_gzip("gzip"));
	assert_true(content_accepts_gzip("br,GZIP ;q=0.1"));
	assert_true(content_accepts_gzip("deflate, gzip;q=1.0"));
	assert_true(content_accepts_gzip("*"));
}

static void test_if_none_match(void **state)
{
	(void)state;
	assert_false(content_matches(NULL, "\"a\""));
	assert_false(content_matches("", "\"a\""));
	assert_false(content_matches("\"b\"", "\"a\""));
	assert_false(content_matches("\"a", "\"a\""));
	assert_false(content_matches(" , ,", "\"a\""));
	assert_true(content_matches("\"a\"", "\"a\""));
	assert_true(content_matches("W/\"a\"", "\"a\""));
	assert_true(content_matches("\"b\", \"a\"", "\"a\""));
	assert_true(content_matches("*", "\"a\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_targets),  cmocka_unit_test(test_bad_targets),
		cmocka_unit_test(test_limits),	      cmocka_unit_test(test_accepts_gzip),
		cmocka_unit_test(test_if_none_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_assets.c - the page's files: caching, and clients that take gzip or do not.
 */
#include "dashboard/assets.h"
#include "dashboard/content.h"
#include "dashboard/gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char page[] = "<!doctype html> a page, a page, a page, a page, a page, a page";
static struct buf packed;
static struct web_asset table[2];
static struct request request;
static struct response response;
static char etag[40];

static int setup(void **state)
{
	(void)state;
	if (gzip_deflate(page, strlen(page), &packed))
		return -1;
	table[0] = (struct web_asset){
		"/",	     "text/html; charset=utf-8",	 "0123456789abcdef",
		false,	     (const unsigned char *)packed.data, packed.size,
		strlen(page)};
	table[1] = table[0];
	table[1].path = "/assets/app.1.js";
	table[1].immutable = true;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	buf_destroy(&packed);
	return 0;
}

static void get(const char *method, const char *path, bool gzip, const char *if_none_match)
{
	response_destroy(&response);
	response = (struct response){0};
	request = (struct request){.method = method,
				   .path = path,
				   .accepts_gzip = gzip,
				   .if_none_match = if_none_match};
	assets_respond(table, 2, &request, &response, etag);
}

static void test_gzip_and_plain(void **state)
{
	(void)state;
	get("GET", "/", true, NULL);
	assert_int_equal(response.status, 200);
	assert_true(response.gzipped && response.varies);
	assert_ptr_equal(response.fixed, packed.data);
	assert_string_equal(response.etag, "\"0123456789abcdef-gz\"");
	assert_string_equal(response.cache_control, "no-cache");
	get("HEAD", "/assets/app.1.js", false, NULL);
	assert_int_equal(response.status, 200);
	assert_false(response.gzipped);
	assert_string_equal(response.body.data, page);
	assert_string_equal(response.etag, "\"0123456789abcdef\"");
	assert_non_null(strstr(response.cache_control, "immutable"));
	response_destroy(&response);
}

static void test_not_modified(void **state)
{
	(void)state;
	get("GET", "/", false, "\"0123456789abcdef\"");
	assert_int_equal(response.status, 304);
	assert_null(response.body.data);
	assert_null(response.fixed);
	get("GET", "/", true, "\"0123456789abcdef\"");
	assert_int_equal(response.status, 200);
	response_destroy(&response);
}

static void test_refusals(void **state)
{
	(void)state;
	get("GET", "/assets/", true, NULL);
	assert_int_equal(response.status, 404);
	get("GET", "/assets/../", true, NULL);
	assert_int_equal(response.status, 404);
	get("POST", "/", true, NULL);
	assert_int_equal(response.status, 405);
	assert_string_equal(response.allow, "GET, HEAD");
	response_destroy(&response);
	assert_true(assets_own("/"));
	assert_true(assets_own("/assets/x"));
	assert_false(assets_own("/assets"));
	assert_false(assets_own("/api/v1/summary"));
	assert_false(assets_own(""));
}

static void test_broken_gzip(void **state)
{
	struct buf out = {0};

	(void)state;
	assert_int_not_equal(gzip_inflate("not gzip", 8, 100, &out), 0);
	assert_int_not_equal(gzip_inflate(packed.data, packed.size - 1, strlen(page), &out), 0);
	assert_int_not_equal(gzip_inflate(packed.data, packed.size, strlen(page) - 1, &out), 0);
	assert_int_not_equal(gzip_inflate(packed.data, packed.size, strlen(page) + 1, &out), 0);
	assert_int_equal(gzip_inflate(packed.data, packed.size, strlen(page), &out), 0);
	buf_destroy(&out);
}

static void test_compress(void **state)
{
	struct buf plain = {0};

	(void)state;
	request = (struct request){.accepts_gzip = true};
	response = (struct response){0};
	for (int i = 0; i < 500; i++)
		buf_add_text(&response.body, "[1,2,3],");
	buf_add(&plain, response.body.data, response.body.size);
	content_compress(&request, &response);
	assert_true(response.gzipped && response.varies);
	assert_true(response.body.size < plain.size / 4);
	buf_clear(&plain);
	assert_int_equal(gzip_inflate(response.body.data, response.body.size, 4000, &plain), 0);
	assert_memory_equal(plain.data, "[1,2,3],[1,2,3],", 16);
	response_destroy(&response);
	buf_destroy(&plain);

	response = (struct response){0}; /* small, or not asked for: stays */
	buf_add_text(&response.body, "{}");
	content_compress(&request, &response);
	assert_false(response.gzipped || response.varies);
	request.accepts_gzip = false;
	for (int i = 0; i < 500; i++)
		buf_add_text(&response.body, "[1,2,3],");
	content_compress(&request, &response);
	assert_true(response.varies && !response.gzipped);
	response_destroy(&response);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gzip_and_plain), cmocka_unit_test(test_not_modified),
		cmocka_unit_test(test_refusals),       cmocka_unit_test(test_broken_gzip),
		cmocka_unit_test(test_compress),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

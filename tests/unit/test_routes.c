/* SPDX-License-Identifier: MIT */
/*
 * test_routes.c - every route, every parameter's bad values, and which family is meant.
 */
#include "dashboard/routes.h"
#include "tests/unit/model_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct response response;
static const char *const *bound;
static size_t bound_count;

static const char *text(void)
{
	return response.fixed ? response.fixed : response.body.data;
}

static int ask(const char *method, const char *target, const struct model *model)
{
	struct request request = {0};
	char why[256];

	response_destroy(&response);
	response = (struct response){0};
	assert_int_equal(request_parse(&request, method, target, why, sizeof why), 0);
	request.bound = bound;
	request.bound_count = bound_count;
	routes_respond(&request, model, &response);
	assert_non_null(response.content_type);
	assert_non_null(response.cache_control);
	return response.status;
}

static int get(const char *target)
{
	return ask("GET", target, &fixture_model);
}

static int teardown(void **state)
{
	(void)state;
	response_destroy(&response);
	bound_count = 0;
	return 0;
}

static void expect(const char *part)
{
	if (!strstr(text(), part))
		fail_msg("'%s' is not in: %s", part, text());
}

static void test_every_route(void **state)
{
	static const char *const targets[] = {
		"/healthz",
		"/openapi.json",
		"/api/v1/summary",
		"/api/v1/summary?process=101&since=start",
		"/api/v1/processes",
		"/api/v1/processes?process=200&since=second",
		"/api/v1/threads",
		"/api/v1/threads?sort=name&order=desc&limit=10000&filter=&state=live&member=100",
		"/api/v1/threads/102",
		"/api/v1/threads/101?member=101&kind=all&sort=mean_bytes",
		"/api/v1/sites",
		"/api/v1/"
		"sites?process=100&member=100&thread=100&kind=new%5B%5D&since=start&order=asc",
		"/api/v1/sites?limit=1&sort=name&filter=%3Cscript%3E",
	};

	(void)state;
	for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
		assert_int_equal(get(targets[i]), 200);
		assert_non_null(strstr(response.content_type, "json"));
		assert_int_equal(ask("HEAD", targets[i], &fixture_model), 200);
	}
}

static void test_not_found(void **state)
{
	static const char *const targets[] = {"",
					      "/",
					      "*",
					      "//",
					      "/api",
					      "/api/v1/",
					      "/api/v1/summary/",
					      "/api/v1/Summary",
					      "/api/v1/threads/",
					      "/api/v1/threads/1/2",
					      "/api/v1/threads/1/",
					      "/healthz/../api/v1/summary",
					      "/api/v2/summary"};

	(void)state;
	for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
		assert_int_equal(get(targets[i]), 404);
		expect("\"code\":\"not_found\"");
	}
}

static void test_methods(void **state)
{
	static const char *const methods[] = {"POST",	 "PUT",	  "DELETE", "PATCH",
					      "OPTIONS", "TRACE", "get",    ""};

	(void)state;
	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
		assert_int_equal(ask(methods[i], "/api/v1/sites", &fixture_model), 405);
		assert_string_equal(response.allow, "GET, HEAD");
		expect("\"code\":\"method_not_allowed\"");
		assert_int_equal(ask(methods[i], "/nothing", &fixture_model), 404);
	}
}

static void test_bad_parameters(void **state)
{
	static const char *const cases[][2] = {
		{"/healthz?a=1", "a=1: this route takes no parameters"},
		{"/api/v1/summary?limit=5",
		 "limit=5: no such parameter here; allowed are process, since"},
		{"/api/v1/summary?process=1&process=1", "process=1: given more than once"},
		{"/api/v1/summary?process=", "1 to 2147483647"},
		{"/api/v1/summary?process=0", "1 to 2147483647"},
		{"/api/v1/summary?process=-1", "1 to 2147483647"},
		{"/api/v1/summary?process=+1", "1 to 2147483647"},
		{"/api/v1/summary?process=1.0", "1 to 2147483647"},
		{"/api/v1/summary?process=0x10", "1 to 2147483647"},
		{"/api/v1/summary?process=2147483648", "1 to 2147483647"},
		{"/api/v1/summary?process=99999999999999999999", "1 to 2147483647"},
		{"/api/v1/summary?Process=1", "no such parameter"},
		{"/api/v1/summary?since=hour", "since=hour: allowed are second, start"},
		{"/api/v1/summary?since=", "allowed are second, start"},
		{"/api/v1/summary?a%22%0a=1", "a\\\"\\n=1"},
		{"/api/v1/processes?sort=name", "no such parameter"},
		{"/api/v1/threads?sort=mean_bytes", "allowed are allocs_per_s, bytes_per_s"},
		{"/api/v1/threads?kind=all", "no such parameter"},
		{"/api/v1/threads?thread=1", "no such parameter"},
		{"/api/v1/threads?state=dead", "allowed are all, live, ended"},
		{"/api/v1/threads?order=up", "allowed are desc, asc"},
		{"/api/v1/threads?limit=0", "from 1 to 10000"},
		{"/api/v1/threads?limit=10001", "from 1 to 10000"},
		{"/api/v1/threads?limit=1e3", "from 1 to 10000"},
		{"/api/v1/threads?member=x", "1 to 2147483647"},
		{"/api/v1/threads/x", "tid: allowed"},
		{"/api/v1/threads/0", "tid: allowed"},
		{"/api/v1/threads/1?state=live", "no such parameter"},
		{"/api/v1/sites?sort=net_bytes", "realloc_copied_bytes, mean_bytes, name"},
		{"/api/v1/sites?kind=leak", "alloc, free, all, malloc"},
		{"/api/v1/sites?kind=", "alloc, free, all, malloc"},
		{"/api/v1/sites?thread=%201", "1 to 2147483647"},
		{"/api/v1/sites?limit=5&limit=6", "given more than once"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(get(cases[i][0]), 400);
		expect("\"code\":\"bad_parameter\"");
		expect(cases[i][1]);
	}
}

static void test_long_values_are_cut(void **state)
{
	char target[600] = "/api/v1/sites?filter=";

	(void)state;
	memset(target + strlen(target), 'x', 257);
	assert_int_equal(get(target), 400);
	expect("allowed are up to 256 bytes");
	target[strlen(target) - 1] = '\0';
	assert_int_equal(get(target), 200);
}

static void test_nothing_there(void **state)
{
	static const char *const targets[] = {"/api/v1/summary", "/api/v1/threads",
					      "/api/v1/threads/5", "/api/v1/sites"};

	(void)state;
	for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
		assert_int_equal(ask("GET", targets[i], &fixture_empty), 404);
		expect("\"code\":\"no_family\"");
	}
	assert_int_equal(ask("GET", "/api/v1/processes", &fixture_empty), 200);
	expect("\"families\":[]");
	assert_int_equal(ask("GET", "/healthz", &fixture_empty), 200);
	expect("\"families\":0");
	assert_int_equal(get("/api/v1/summary?process=5"), 404);
	expect("\"code\":\"no_process\"");
	assert_int_equal(get("/api/v1/sites?member=5"), 404);
	expect("\"code\":\"no_process\"");
	assert_int_equal(get("/api/v1/processes?process=5"), 404);
	assert_int_equal(get("/api/v1/threads/5"), 404);
	expect("\"code\":\"no_thread\"");
	assert_int_equal(get("/api/v1/sites?thread=101&member=100"), 404);
	expect("\"code\":\"no_thread\"");
}

static void test_which_family(void **state)
{
	const char *second[] = {"200-b"}, *unknown[] = {"300-c"};
	const char *both[] = {"200-b", "100-a"};

	(void)state;
	get("/api/v1/summary");
	expect("\"id\":\"100-a\"");
	get("/api/v1/summary?process=200");
	expect("\"id\":\"200-b\"");
	get("/api/v1/summary?process=101"); /* one of its processes */
	expect("\"id\":\"100-a\"");
	bound = second;
	bound_count = 1;
	get("/api/v1/summary");
	expect("\"id\":\"200-b\"");
	get("/api/v1/summary?process=100");
	expect("\"id\":\"100-a\"");
	bound = both;
	bound_count = 2;
	get("/api/v1/summary"); /* the one that allocates most */
	expect("\"id\":\"100-a\"");
	bound = unknown;
	bound_count = 1;
	assert_int_equal(get("/api/v1/summary"), 404);
}

static void test_kinds(void **state)
{
	(void)state;
	get("/api/v1/sites");
	expect("\"matched\":4");
	get("/api/v1/sites?kind=free"); /* sorted by frees, as nothing allocates */
	expect("\"matched\":2");
	expect("\"sites\":[{\"id\":\"free-403000\"");
	get("/api/v1/sites?kind=all&limit=1");
	expect("\"matched\":6");
	get("/api/v1/sites?kind=realloc");
	expect("\"name\":\"(site not known)\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_every_route, teardown),
		cmocka_unit_test_teardown(test_not_found, teardown),
		cmocka_unit_test_teardown(test_methods, teardown),
		cmocka_unit_test_teardown(test_bad_parameters, teardown),
		cmocka_unit_test_teardown(test_long_values_are_cut, teardown),
		cmocka_unit_test_teardown(test_nothing_there, teardown),
		cmocka_unit_test_teardown(test_which_family, teardown),
		cmocka_unit_test_teardown(test_kinds, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

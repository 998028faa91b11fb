/* SPDX-License-Identifier: MIT */
/*
 * test_openapi.c - openapi.json and routes.c say the same: paths, and the parameters of each.
 */
#include "dashboard/openapi.h"
#include "dashboard/routes.h"
#include "tests/unit/model_fixture.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static cJSON *description;

static int setup(void **state)
{
	(void)state;
	description = cJSON_ParseWithLength(openapi_json, openapi_json_size());
	return description ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	cJSON_Delete(description);
	return 0;
}

static const cJSON *child(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool is_route(const char *path)
{
	const char *pattern;

	for (size_t i = 0; (pattern = routes_pattern(i)); i++)
		if (strcmp(pattern, path) == 0)
			return true;
	return false;
}

static void test_paths(void **state)
{
	const cJSON *paths = child(description, "paths"), *path;
	const char *pattern;

	(void)state;
	for (size_t i = 0; (pattern = routes_pattern(i)); i++)
		if (!child(child(paths, pattern), "get"))
			fail_msg("%s is not in openapi.json", pattern);
	cJSON_ArrayForEach(path, paths) if (!is_route(path->string))
		fail_msg("%s is not in routes.c", path->string);
	assert_string_equal(child(child(description, "info"), "version")->valuestring,
			    HEAPTAP_VERSION);
}

static const cJSON *resolve_parameter(const cJSON *parameter)
{
	const cJSON *ref = child(parameter, "$ref");

	return child(child(child(description, "components"), "parameters"),
		     strrchr(ref->valuestring, '/') + 1);
}

/* A value that the schema allows, of which the route must at least not say that it is bad. */
static const char *example_of(const cJSON *schema, char text[32])
{
	const cJSON *words = child(schema, "enum");

	if (words)
		return cJSON_GetArrayItem(words, cJSON_GetArraySize(words) - 1)->valuestring;
	if (strcmp(child(schema, "type")->valuestring, "string") == 0)
		return "x";
	snprintf(text, 32, "%d", child(schema, "maximum")->valueint);
	return text;
}

static int ask(const char *path, const char *name, const char *value)
{
	struct response response = {0};
	struct request request = {.method = "GET", .path = path};
	int status;

	if (strstr(path, "{tid}"))
		request.path = "/api/v1/threads/100";
	request.params[0] = (struct param){name, value};
	request.param_count = 1;
	routes_respond(&request, &fixture_model, &response);
	status = response.status;
	response_destroy(&response);
	return status;
}

static bool takes(const cJSON *parameters, const char *name)
{
	const cJSON *one;

	cJSON_ArrayForEach(
		one, parameters) if (strcmp(child(resolve_parameter(one), "name")->valuestring,
					    name) == 0) return true;
	return false;
}

/* What is described is taken, every word of it; what is not is refused. */
static void test_parameters(void **state)
{
	static const char *const all[] = {"process", "member", "thread", "since", "sort",
					  "order",   "limit",  "filter", "kind",  "state"};
	const cJSON *path, *one, *word;
	char text[32];

	(void)state;
	cJSON_ArrayForEach(path, child(description, "paths"))
	{
		const cJSON *parameters = child(child(path, "get"), "parameters");

		cJSON_ArrayForEach(one, parameters)
		{
			const cJSON *parameter = resolve_parameter(one);
			const cJSON *schema = child(parameter, "schema");
			const char *name = child(parameter, "name")->valuestring;

			if (strcmp(child(parameter, "in")->valuestring, "query") != 0)
				continue;
			assert_int_not_equal(ask(path->string, name, example_of(schema, text)),
					     400);
			cJSON_ArrayForEach(word, child(schema, "enum"))
				assert_int_equal(ask(path->string, name, word->valuestring), 200);
		}
		for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
			if (!takes(parameters, all[i]))
				assert_int_equal(ask(path->string, all[i], "1"), 400);
	}
}

/* Every property says what it is and every answer has a schema. */
static void check_described(const cJSON *schema, const char *where)
{
	const cJSON *property, *part;

	cJSON_ArrayForEach(part, child(schema, "allOf")) check_described(part, where);
	cJSON_ArrayForEach(property, child(schema, "properties"))
	{
		if (!child(property, "$ref") && !child(property, "properties") &&
		    !child(property, "description"))
			fail_msg("%s/%s has no description", where, property->string);
		check_described(property, property->string);
	}
}

static void test_descriptions(void **state)
{
	const cJSON *schema;

	(void)state;
	cJSON_ArrayForEach(schema, child(child(description, "components"), "schemas"))
		check_described(schema, schema->string);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_descriptions),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

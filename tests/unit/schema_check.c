/* SPDX-License-Identifier: MIT */
/*
 * schema_check.c - see schema_check.h.
 */
#include "tests/unit/schema_check.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHY_SIZE 256

struct check {
	const cJSON *schemas; /* components/schemas */
	char *why;
};

static bool offend(struct check *check, const char *where, const char *what)
{
	snprintf(check->why, WHY_SIZE, "%.120s: %.120s", where, what);
	return false;
}

static const cJSON *resolve(const struct check *check, const cJSON *schema)
{
	const cJSON *ref = cJSON_GetObjectItemCaseSensitive(schema, "$ref");

	if (!ref)
		return schema;
	return cJSON_GetObjectItemCaseSensitive(check->schemas, strrchr(ref->valuestring, '/') + 1);
}

static bool is_type(const cJSON *value, const char *type)
{
	if (strcmp(type, "null") == 0)
		return cJSON_IsNull(value);
	if (strcmp(type, "string") == 0)
		return cJSON_IsString(value);
	if (strcmp(type, "boolean") == 0)
		return cJSON_IsBool(value);
	if (strcmp(type, "object") == 0)
		return cJSON_IsObject(value);
	if (strcmp(type, "array") == 0)
		return cJSON_IsArray(value);
	if (!cJSON_IsNumber(value))
		return false;
	return strcmp(type, "integer") != 0 || value->valuedouble == nearbyint(value->valuedouble);
}

static bool has_type(const cJSON *value, const cJSON *type)
{
	const cJSON *one;

	if (!type)
		return true;
	if (cJSON_IsString(type))
		return is_type(value, type->valuestring);
	cJSON_ArrayForEach(one, type) if (is_type(value, one->valuestring)) return true;
	return false;
}

/* The description of a property, looked for in all parts of an allOf. */
static const cJSON *find_property(const struct check *check, const cJSON *schema, const char *name)
{
	const cJSON *part, *found;

	schema = resolve(check, schema);
	found = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(schema, "properties"), name);
	cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(schema, "allOf")) if (!found)
		found = find_property(check, part, name);
	return found;
}

static bool has_required(struct check *check, const cJSON *schema, const cJSON *value,
			 const char *where)
{
	const cJSON *name, *part;

	schema = resolve(check, schema);
	cJSON_ArrayForEach(
		name, cJSON_GetObjectItemCaseSensitive(
			      schema,
			      "required")) if (!cJSON_GetObjectItemCaseSensitive(value,
										 name->valuestring))
	{
		offend(check, where, name->valuestring);
		strcat(check->why, " is missing");
		return false;
	}
	cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(
					 schema, "allOf")) if (!has_required(check, part, value,
									     where)) return false;
	return true;
}

static bool fits(struct check *check, const cJSON *schema, const cJSON *value, const char *where);

static bool fits_members(struct check *check, const cJSON *schema, const cJSON *value,
			 const char *where)
{
	const cJSON *member;

	if (!has_required(check, schema, value, where))
		return false;
	cJSON_ArrayForEach(member, value)
	{
		const cJSON *property = find_property(check, schema, member->string);
		char inner[WHY_SIZE];

		snprintf(inner, sizeof inner, "%.180s/%.60s", where, member->string);
		if (!property)
			return offend(check, inner, "is not described");
		if (!cJSON_GetObjectItemCaseSensitive(property, "$ref") &&
		    !cJSON_GetObjectItemCaseSensitive(property, "description") &&
		    !cJSON_IsObject(member))
			return offend(check, inner, "has no description");
		if (!fits(check, property, member, inner))
			return false;
	}
	return true;
}

static bool is_allowed(const cJSON *value, const cJSON *allowed)
{
	const cJSON *one;

	if (!allowed || cJSON_IsNull(value))
		return true;
	cJSON_ArrayForEach(one, allowed) if (cJSON_Compare(one, value, 1)) return true;
	return false;
}

static bool fits(struct check *check, const cJSON *schema, const cJSON *value, const char *where)
{
	const cJSON *items, *minimum, *row;

	schema = resolve(check, schema);
	if (!has_type(value, cJSON_GetObjectItemCaseSensitive(schema, "type")))
		return offend(check, where, "has the wrong type");
	if (!is_allowed(value, cJSON_GetObjectItemCaseSensitive(schema, "enum")))
		return offend(check, where, "has a value that is not in enum");
	minimum = cJSON_GetObjectItemCaseSensitive(schema, "minimum");
	if (minimum && cJSON_IsNumber(value) && value->valuedouble < minimum->valuedouble)
		return offend(check, where, "is below its minimum");
	if (cJSON_IsObject(value))
		return fits_members(check, schema, value, where);
	items = cJSON_GetObjectItemCaseSensitive(schema, "items");
	if (items)
		cJSON_ArrayForEach(row, value) if (!fits(check, items, row, where)) return false;
	return true;
}

bool schema_check(const char *openapi, const char *schema, const char *text, char *why)
{
	cJSON *description = cJSON_Parse(openapi), *value = cJSON_Parse(text);
	const cJSON *components = cJSON_GetObjectItemCaseSensitive(description, "components");
	struct check check = {cJSON_GetObjectItemCaseSensitive(components, "schemas"), why};
	const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(check.schemas, schema);
	bool good;

	if (!description || !value || !wanted)
		good = offend(&check, schema, value ? "no such schema" : "the text is no JSON");
	else
		good = fits(&check, wanted, value, schema);
	cJSON_Delete(description);
	cJSON_Delete(value);
	return good;
}

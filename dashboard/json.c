/* SPDX-License-Identifier: MIT */
/*
 * json.c - the only file that uses cJSON; see json.h.
 *
 * cJSON copies bytes above 0x7f as they are and keeps numbers as doubles; hence text is sanitised
 * and numbers are handed over as raw digits.
 */
#include "dashboard/json.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct json json_object(struct buf *out)
{
	struct json json = {out, cJSON_CreateObject()};

	out->failed |= !json.node;
	return json;
}

struct json json_array(struct buf *out)
{
	struct json json = {out, cJSON_CreateArray()};

	out->failed |= !json.node;
	return json;
}

/* `key` is a literal: it is not copied. Takes `item`. */
static void add_item(struct json *json, const char *key, cJSON *item)
{
	if (item && json->node && cJSON_AddItemToObjectCS(json->node, key, item))
		return;
	cJSON_Delete(item);
	json->out->failed = true;
}

static void add_raw(struct json *json, const char *key, const char *digits)
{
	add_item(json, key, cJSON_CreateRaw(digits));
}

void json_add(struct json *json, const char *key, struct json *part)
{
	add_item(json, key, part->node);
	part->node = NULL;
}

void json_append(struct json *list, struct json *part)
{
	if (!list->node || !part->node || !cJSON_AddItemToArray(list->node, part->node)) {
		cJSON_Delete(part->node);
		list->out->failed = true;
	}
	part->node = NULL;
}

void json_add_u64(struct json *json, const char *key, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%" PRIu64, value);
	add_raw(json, key, digits);
}

void json_add_i64(struct json *json, const char *key, int64_t value)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%" PRId64, value);
	add_raw(json, key, digits);
}

/* No locale is ever set in this program, so that the decimal point is one. */
void json_add_decimal(struct json *json, const char *key, double value, int places)
{
	char digits[64];

	snprintf(digits, sizeof digits, "%.*f", places, value);
	add_raw(json, key, digits);
}

void json_add_bool(struct json *json, const char *key, bool value)
{
	add_item(json, key, cJSON_CreateBool(value));
}

void json_add_null(struct json *json, const char *key)
{
	add_item(json, key, cJSON_CreateNull());
}

void json_add_text(struct json *json, const char *key, const char *text)
{
	struct buf clean = {0};

	if (!text) {
		json_add_null(json, key);
		return;
	}
	buf_add_utf8(&clean, text);
	add_item(json, key, clean.failed ? NULL : cJSON_CreateString(clean.data));
	buf_destroy(&clean);
}

void json_add_known(struct json *json, const char *key, uint64_t value)
{
	if (value)
		json_add_u64(json, key, value);
	else
		json_add_null(json, key);
}

void json_write(struct json *json, const char *list)
{
	char *text = json->node ? cJSON_PrintBuffered(json->node, 1024, 0) : NULL;

	cJSON_Delete(json->node);
	json->node = NULL;
	if (!text) {
		json->out->failed = true;
		return;
	}
	if (list) {
		size_t length = strlen(text) - 1;

		buf_add(json->out, text, length);
		buf_printf(json->out, "%s\"%s\":[", length > 1 ? "," : "", list);
	} else {
		buf_add_text(json->out, text);
	}
	cJSON_free(text);
}

void json_add_hex(struct json *json, const char *key, const char *prefix, uint64_t value)
{
	char text[64];

	snprintf(text, sizeof text, "%s%" PRIx64, prefix, value);
	json_add_text(json, key, text);
}

void json_next_row(struct buf *out, size_t index)
{
	if (index > 0)
		buf_add_text(out, ",");
}

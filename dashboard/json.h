/* SPDX-License-Identifier: MIT */
/*
 * json.h - JSON objects, one after the other, appended to a buffer.
 *
 * Trouble (no memory) is noted in out->failed and checked once at the end; nothing else reports.
 * Keys are literals: they are not copied.
 */
#pragma once

#include "dashboard/buf.h"

#include <stdint.h>

struct json {
	struct buf *out;
	struct cJSON *node;
};

struct json json_object(struct buf *out);
struct json json_array(struct buf *out);

void json_add(struct json *json, const char *key, struct json *part); /* takes `part` */
void json_append(struct json *list, struct json *part);		      /* takes `part` */
void json_add_u64(struct json *json, const char *key, uint64_t value);
void json_add_i64(struct json *json, const char *key, int64_t value);
void json_add_known(struct json *json, const char *key, uint64_t value); /* 0 becomes null */
void json_add_decimal(struct json *json, const char *key, double value, int places);
void json_add_hex(struct json *json, const char *key, const char *prefix, uint64_t value);
void json_add_bool(struct json *json, const char *key, bool value);
void json_add_null(struct json *json, const char *key);

/* Any bytes: made valid UTF-8. NULL becomes null. */
void json_add_text(struct json *json, const char *key, const char *text);

/* Writes and frees the object: whole; or, with the name of a list, open up to and with `"list":[`.
 * The caller then writes the rows and "]}". */
void json_write(struct json *json, const char *list);

/* The comma before row `index`. */
void json_next_row(struct buf *out, size_t index);

/* SPDX-License-Identifier: MIT */
/*
 * schema_check.h - holds a JSON text to a schema of openapi.json: the part of JSON Schema that is
 * used there ($ref, allOf, type, required, properties, items, enum, minimum). A property that is
 * not described is an offence, too.
 */
#pragma once

#include <stdbool.h>

/* `schema` is a name below components/schemas. False, and in `why` (256 bytes) where and what. */
bool schema_check(const char *openapi, const char *schema, const char *text, char *why);

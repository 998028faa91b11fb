/* SPDX-License-Identifier: MIT */
/*
 * openapi.h - openapi.json, as it lies in the program (openapi.S).
 */
#pragma once

#include <stddef.h>

extern const char openapi_json[];
extern const char openapi_json_end[];

static inline size_t openapi_json_size(void)
{
	return (size_t)(openapi_json_end - openapi_json);
}

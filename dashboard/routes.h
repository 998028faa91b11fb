/* SPDX-License-Identifier: MIT */
/*
 * routes.h - a request and a model in, a response out; no sockets, no clock, no state.
 *
 * Routes live in one table in routes.c; openapi.json describes each of them (a test compares the
 * two). The page itself is served by assets.c.
 */
#pragma once

#include "dashboard/model.h"
#include "dashboard/request.h"

/* Fills `response`, which must be zeroed; the caller destroys it. Never fails: where memory was
 * refused the response is a 500. */
void routes_respond(const struct request *request, const struct model *model,
		    struct response *response);

/* An error in the API's form. */
void routes_error(struct response *response, int status, const char *code, const char *message);

/* The route number `index` as openapi.json writes it ("/api/v1/threads/{tid}"); NULL past the last
 * one. */
const char *routes_pattern(size_t index);

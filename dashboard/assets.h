/* SPDX-License-Identifier: MIT */
/*
 * assets.h - answers requests for the page and its files from the table that web/ embeds. Pure.
 */
#pragma once

#include "dashboard/request.h"
#include "web/assets.h"

/* Whether the path is one of the page's: "/" or below "/assets/". They hold no data, so that they
 * are open to everybody who may connect. */
bool assets_own(const char *path);

/* Fills `response`, which must be zeroed. `etag` has room for the quoted tag and must live as long
 * as the response. */
void assets_respond(const struct web_asset *table, size_t count, const struct request *request,
		    struct response *response, char etag[40]);

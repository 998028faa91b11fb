/* SPDX-License-Identifier: MIT */
/*
 * assets.c - the page's files; see assets.h.
 *
 * The two forms of a file, gzipped and not, are told apart by their entity tags (RFC 9110, 8.8.1).
 */
#include "dashboard/assets.h"

#include "dashboard/content.h"
#include "dashboard/gzip.h"
#include "dashboard/routes.h"

#include <stdio.h>
#include <string.h>

bool assets_own(const char *path)
{
	return strcmp(path, "/") == 0 || strncmp(path, "/assets/", 8) == 0;
}

static const struct web_asset *find(const struct web_asset *table, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(table[i].path, path) == 0)
			return &table[i];
	return NULL;
}

static void fill_body(const struct web_asset *asset, const struct request *request,
		      struct response *response)
{
	response->gzipped = request->accepts_gzip;
	if (request->accepts_gzip) {
		response->fixed = asset->gzip;
		response->fixed_size = asset->gzip_size;
	} else if (gzip_inflate(asset->gzip, asset->gzip_size, asset->size, &response->body)) {
		routes_error(response, 500, "no_memory", "out of memory");
	}
}

static bool is_read(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

void assets_respond(const struct web_asset *table, size_t count, const struct request *request,
		    struct response *response, char etag[40])
{
	const struct web_asset *asset = find(table, count, request->path);

	if (!is_read(request->method)) {
		response->allow = "GET, HEAD";
		routes_error(response, 405, "method_not_allowed", "allowed are GET and HEAD");
		return;
	}
	if (!asset) {
		routes_error(response, 404, "not_found",
			     "the page has no such file; / is the page");
		return;
	}
	snprintf(etag, 40, "\"%.24s%s\"", asset->etag, request->accepts_gzip ? "-gz" : "");
	response->etag = etag;
	response->varies = true;
	response->content_type = asset->mime;
	response->cache_control =
		asset->immutable ? "public, max-age=31536000, immutable" : "no-cache";
	if (content_matches(request->if_none_match, etag)) {
		response->status = 304;
		return;
	}
	response->status = 200;
	fill_body(asset, request, response);
}

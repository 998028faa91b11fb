/* SPDX-License-Identifier: MIT */
/*
 * assets.h - the page, as it lies in heaptap-server.
 *
 * Files are kept gzipped only: every browser takes them so, and a client that does not gets them
 * inflated by the caller. Constant data; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct web_asset {
	const char *path; /* as requested: "/" or "/assets/NAME.HASH.ext" */
	const char *mime; /* with its charset */
	const char *etag; /* 16 hex digits of the content's hash, without quotes */
	bool immutable;	  /* the path carries the content's hash: may be cached for ever */
	const unsigned char *gzip;
	size_t gzip_size;
	size_t size; /* inflated */
};

extern const struct web_asset web_assets[];
extern const size_t web_asset_count;

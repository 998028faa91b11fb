/* SPDX-License-Identifier: MIT */
/*
 * content.c - content negotiation; see content.h.
 */
#include "dashboard/content.h"

#include "dashboard/gzip.h"

#include <string.h>
#include <strings.h>

#define COMPRESS_FROM 1024u

/* The weight in "gzip;q=0.5" is nothing but noughts: "not acceptable". */
static bool is_refused(const char *parameters, size_t size)
{
	const char *q = memmem(parameters, size, "q=", 2);

	if (!q)
		return false;
	q += 2;
	for (; q < parameters + size && *q != ';'; q++)
		if (*q >= '1' && *q <= '9')
			return false;
	return true;
}

static bool names(const char *item, size_t size, const char *coding)
{
	return size == strlen(coding) && strncasecmp(item, coding, size) == 0;
}

bool content_accepts_gzip(const char *accept_encoding)
{
	const char *item = accept_encoding;
	bool any = false;

	while (item && *item) {
		size_t size, name;

		item += strspn(item, " \t,");
		size = strcspn(item, ",");
		name = strcspn(item, "; \t,");
		if (names(item, name, "gzip") || names(item, name, "x-gzip"))
			return !is_refused(item + name, size - name);
		if (names(item, name, "*"))
			any = !is_refused(item + name, size - name);
		item += size;
	}
	return any;
}

bool content_matches(const char *if_none_match, const char *etag)
{
	const char *item = if_none_match;

	while (item && *item) {
		size_t size;

		item += strspn(item, " \t,");
		if (*item == '*')
			return true;
		if (strncmp(item, "W/", 2) == 0) /* weak comparison (RFC 9110, 13.1.2) */
			item += 2;
		size = strcspn(item, ", \t");
		if (size > 0 && size == strlen(etag) && memcmp(item, etag, size) == 0)
			return true;
		item += size;
	}
	return false;
}

void content_compress(const struct request *request, struct response *response)
{
	const void *bytes = response->fixed ? response->fixed : response->body.data;
	size_t size = response->fixed ? response->fixed_size : response->body.size;
	struct buf packed = {0};

	if (size <= COMPRESS_FROM || response->gzipped)
		return;
	response->varies = true;
	if (!request->accepts_gzip)
		return;
	if (gzip_deflate(bytes, size, &packed) == 0 && packed.size < size) {
		buf_destroy(&response->body);
		response->body = packed;
		response->fixed = NULL;
		response->gzipped = true;
	} else {
		buf_destroy(&packed);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * request.h - a request's method, path and parameters, and the response to it; no sockets.
 *
 * The target is taken as it stood in the request line and decoded here, strictly: a bad escape, a
 * NUL or anything that is not UTF-8 refuses the request instead of being guessed at.
 */
#pragma once

#include "dashboard/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define REQUEST_TARGET_MAX 4096u
#define REQUEST_PARAMS	   24u

struct param {
	const char *name;
	const char *value;
};

struct request {
	const char *method;
	const char *path; /* decoded */
	struct param params[REQUEST_PARAMS];
	size_t param_count;
	const char *const *bound; /* ids of the families that this address belongs to */
	size_t bound_count;
	bool accepts_gzip;
	const char *if_none_match; /* NULL where absent */
	char storage[REQUEST_TARGET_MAX + 1];
};

struct response {
	int status;
	const char *content_type;
	struct buf body;   /* used unless `fixed` is set */
	const void *fixed; /* bytes that live as long as the program */
	size_t fixed_size;
	bool gzipped;	  /* Content-Encoding: gzip */
	bool varies;	  /* Vary: Accept-Encoding */
	const char *etag; /* these four are NULL where the header is not sent */
	const char *cache_control;
	const char *allow;
	const char *authenticate;
};

/* Fills method, path and params. `target` is the raw request target (origin or absolute form).
 * Returns 0; -ENAMETOOLONG; or -EINVAL and in `why` (at least 160 bytes) what is wrong. */
int request_parse(struct request *request, const char *method, const char *target, char *why,
		  size_t why_size);

void response_destroy(struct response *response);

/* SPDX-License-Identifier: MIT */
/*
 * http.h - HTTP on one listening socket, inside the caller's epoll loop.
 *
 * Maps bytes to requests and responses to bytes; knows nothing of what they are about. All
 * callbacks happen inside http_run(). One thread.
 */
#pragma once

#include "dashboard/peer.h"
#include "dashboard/request.h"

#include <stdint.h>

struct http;

struct http_request {
	const char *method;
	const char *target; /* raw, as in the request line */
	const char *host;   /* these headers are NULL where absent */
	const char *authorization;
	const char *accept_encoding;
	const char *if_none_match;
	bool too_large; /* the body is announced to be above the limit */
	struct peer peer;
};

/* Fills `response`, which is zeroed. Its etag and the like are copied when the handler returns. */
typedef void http_handler(void *context, const struct http_request *request,
			  struct response *response);

/* Takes `listen_fd`, also on failure. `diag` is from peer_open() and stays the caller's. 0 or
 * -errno. */
int http_create(int listen_fd, int diag, http_handler *handler, void *context, struct http **out);
void http_destroy(struct http *http); /* accepts NULL; ends every connection */

/* To be watched for EPOLLIN; whenever it is readable or http_timeout_ms() has passed, http_run().
 */
int http_fd(const struct http *http);
int http_timeout_ms(const struct http *http); /* -1: none */
void http_run(struct http *http);

/* Ends connections that take too long over one request; call it now and then. */
void http_expire(struct http *http);

/* Grows with everything that makes progress; the loop pauses when it runs without any. */
uint64_t http_activity(const struct http *http);

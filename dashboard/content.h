/* SPDX-License-Identifier: MIT */
/*
 * content.h - content negotiation: who takes gzip, whose copy is still good. Pure.
 */
#pragma once

#include "dashboard/request.h"

/* Whether an Accept-Encoding header (NULL: absent) allows gzip. */
bool content_accepts_gzip(const char *accept_encoding);

/* Whether an If-None-Match header (NULL: absent) names `etag` (with its quotes). */
bool content_matches(const char *if_none_match, const char *etag);

/* Gzips a body of more than 1 kB where the client takes it and it gets smaller. A response that
 * cannot be compressed stays as it is. */
void content_compress(const struct request *request, struct response *response);

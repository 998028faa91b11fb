/* SPDX-License-Identifier: MIT */
/*
 * access.h - who may ask. Pure: the facts come in, the verdict goes out.
 *
 *   Host header   localhost, *.localhost, an IP literal, or the name that the address was given
 *                 with; anything else only with the token. A page on another site that has its own
 *                 name pointed at this machine (DNS rebinding) is stopped here.
 *   peer          same uid or root, on a Unix socket or on loopback TCP; anybody else needs the
 *                 token: "Authorization: Bearer TOKEN".
 *   open paths    the page's files and /healthz hold no data and need no right.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum access_verdict {
	ACCESS_GRANTED,
	ACCESS_NO_RIGHT,   /* 401 */
	ACCESS_WRONG_HOST, /* 421 */
};

struct access_query {
	bool local;	 /* Unix socket, or TCP with both ends on loopback */
	bool peer_known; /* the uid behind the connection could be found out */
	uint32_t peer_uid;
	uint32_t own_uid;
	const char *host;	   /* header; NULL where absent, as browsers never have it */
	const char *authorization; /* header; NULL where absent */
	const char *named_host;	   /* host name of this address's HEAPTAP_LISTEN; NULL: none */
	const char *const *tokens; /* those that are good at this address; NULLs are skipped */
	unsigned token_count;
	bool open_path;
};

enum access_verdict access_check(const struct access_query *query);

/* Whether a Host header is one of this machine's own names. */
bool access_host_allowed(const char *host, const char *named_host);

/* Whether an Authorization header carries `token`; its time tells nothing about the token. */
bool access_token_matches(const char *authorization, const char *token);

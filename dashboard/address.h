/* SPDX-License-Identifier: MIT */
/*
 * address.h - "127.0.0.1:4327", "[::1]:4327", "localhost:4327", "unix:/path": what HEAPTAP_LISTEN
 * and --listen may say, and sockets that listen there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDRESS_MAX	   128u /* with NUL, as in the segment's header */
#define ADDRESS_PORT_FIRST 4327u
#define ADDRESS_PORT_LAST  4390u

struct address {
	bool is_unix;
	char host[ADDRESS_MAX]; /* without brackets; of a Unix socket its path */
	uint16_t port;
};

/* 0 or -EINVAL. Looks nothing up. */
int address_parse(const char *text, struct address *out);

/* The host where it is a name and not an IP literal, else NULL. */
const char *address_name(const struct address *address);

/*
 * Binds and listens: close-on-exec, non-blocking. A name is looked up, which may take a second.
 * `loopback` (may be NULL) tells whether the address can be reached from this machine only, which
 * a Unix socket is. Without `allow_foreign` any other is refused with -EPERM. Returns the
 * descriptor or -errno; -ENOENT for a name that is not known.
 */
int address_listen(const struct address *address, bool allow_foreign, bool *loopback);

/* Listens on 127.0.0.1 and the first free port from ADDRESS_PORT_FIRST. Returns the descriptor or
 * -errno. */
int address_listen_default(uint16_t *port);

/* "http://127.0.0.1:4327", where any interface is meant the loopback one; "" for a Unix socket. */
void address_url(const char *text, char *url, size_t size);

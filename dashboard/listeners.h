/* SPDX-License-Identifier: MIT */
/*
 * listeners.h - the addresses at which the server answers.
 *
 * One is the default: 127.0.0.1:4327 or the next free port, or what --listen said. The others are
 * those that families asked for by HEAPTAP_LISTEN; several families may ask for the same one.
 * What cannot be opened becomes a problem "listen" of the family and is tried again. An address
 * stays open as long as the server runs: a family that has ended is still looked at. One thread.
 */
#pragma once

#include "dashboard/families.h"
#include "dashboard/listener.h"

struct listeners;

struct listeners_options {
	struct families *families;
	const char *listen;	/* default address; NULL: the first free port */
	bool always;		/* open the default address without any family, too */
	const char *token_path; /* of the server's own token */
	const char *token;	/* it; NULL where there is none */
	bool token_is_explicit; /* --token-file was given */
	int epoll;		/* where the sockets are watched; events carry the descriptor -1 */
	int lock; /* descriptor of server.lock, rewritten whenever an address changes */
	http_handler *handler; /* its context is the struct listener */
	void *context;	       /* see listener_context() */
};

/* Strings in `options` must live as long as the listeners. 0 or -errno. */
int listeners_create(const struct listeners_options *options, struct listeners **out);
void listeners_destroy(struct listeners *listeners); /* accepts NULL; closes every socket */

/* Opens what the families ask for by now. 0, or -errno of the default address where it is `always`
 * wanted. */
int listeners_sync(struct listeners *listeners);

/* Takes a lock that was let go and taken again. */
void listeners_set_lock(struct listeners *listeners, int lock);
void listeners_close_all(struct listeners *listeners);

void listeners_run(struct listeners *listeners);
void listeners_expire(struct listeners *listeners);
int listeners_timeout_ms(const struct listeners *listeners); /* -1: none */
uint64_t listeners_activity(const struct listeners *listeners);

/* "127.0.0.1:4327"; "" where the default address is not open. */
const char *listeners_default(const struct listeners *listeners);

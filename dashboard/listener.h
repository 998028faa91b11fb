/* SPDX-License-Identifier: MIT */
/*
 * listener.h - one address at which the server answers: its socket, the families that it belongs
 * to, and the tokens that are good there. One thread.
 */
#pragma once

#include "dashboard/http.h"

struct listener;

/* Takes `fd`, a listening socket of the address `text`. The handler's context is the listener. 0 or
 * -errno. */
int listener_create(int fd, const char *text, int diag, http_handler *handler, void *context,
		    struct listener **out);
void listener_destroy(struct listener *listener); /* accepts NULL; removes a Unix socket's file */

/* Shows that family where no other is asked for. Several: the one that allocates most. */
void listener_bind(struct listener *listener, const char *id);

/* `path` (may be NULL) is where it was read from. */
void listener_add_token(struct listener *listener, const char *token, const char *path);

/* The token in a file, once, which is made where there is none. "" does nothing. */
void listener_add_token_file(struct listener *listener, const char *path);

void *listener_context(const struct listener *listener);
struct http *listener_http(const struct listener *listener);
const char *listener_text(const struct listener *listener);
const char *const *listener_bound(const struct listener *listener, size_t *count);
const char *const *listener_tokens(const struct listener *listener, unsigned *count);
const char *listener_name(const struct listener *listener); /* host name, NULL: an IP literal */

/* SPDX-License-Identifier: MIT */
/*
 * listener.c - one address: its socket, its families and its tokens; see listener.h.
 */
#include "dashboard/listener.h"

#include "dashboard/address.h"
#include "dashboard/log.h"
#include "dashboard/token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOUND_MAX  64u
#define TOKENS_MAX 8u

struct listener {
	void *context;
	struct address address;
	char text[ADDRESS_MAX];
	struct http *http;
	char *bound[BOUND_MAX];
	size_t bound_count;
	char *tokens[TOKENS_MAX];
	char *token_paths[TOKENS_MAX]; /* NULL: the server's own */
	unsigned token_count;
};

void listener_destroy(struct listener *listener)
{
	if (!listener)
		return;
	http_destroy(listener->http);
	if (listener->http && listener->address.is_unix)
		unlink(listener->address.host);
	for (size_t i = 0; i < listener->bound_count; i++)
		free(listener->bound[i]);
	for (unsigned i = 0; i < listener->token_count; i++) {
		free(listener->tokens[i]);
		free(listener->token_paths[i]);
	}
	free(listener);
}

int listener_create(int fd, const char *text, int diag, http_handler *handler, void *context,
		    struct listener **out)
{
	struct listener *listener = calloc(1, sizeof *listener);
	int err;

	if (!listener) {
		close(fd);
		return -ENOMEM;
	}
	listener->context = context;
	snprintf(listener->text, sizeof listener->text, "%s", text);
	address_parse(text, &listener->address);
	err = http_create(fd, diag, handler, listener, &listener->http);
	if (err) {
		listener_destroy(listener);
		return err;
	}
	*out = listener;
	return 0;
}

static bool knows_token(const struct listener *listener, const char *path)
{
	for (unsigned i = 0; i < listener->token_count; i++)
		if (listener->token_paths[i] && strcmp(listener->token_paths[i], path) == 0)
			return true;
	return false;
}

void listener_add_token(struct listener *listener, const char *token, const char *path)
{
	unsigned at = listener->token_count;

	if (at == TOKENS_MAX)
		return;
	listener->tokens[at] = strdup(token);
	listener->token_paths[at] = path ? strdup(path) : NULL;
	if (listener->tokens[at] && (!path || listener->token_paths[at])) {
		listener->token_count++;
		return;
	}
	free(listener->tokens[at]);
	free(listener->token_paths[at]);
}

void listener_add_token_file(struct listener *listener, const char *path)
{
	char token[TOKEN_MAX + 1];
	int err;

	if (!path[0] || knows_token(listener, path))
		return;
	err = token_make(path, token);
	if (err)
		log_line("token file %s: %s", path, strerror(-err));
	else
		listener_add_token(listener, token, path);
}

void listener_bind(struct listener *listener, const char *id)
{
	if (listener->bound_count == BOUND_MAX) { /* the oldest one makes room */
		free(listener->bound[0]);
		memmove(listener->bound, listener->bound + 1,
			(BOUND_MAX - 1) * sizeof listener->bound[0]);
		listener->bound_count--;
	}
	listener->bound[listener->bound_count] = strdup(id);
	if (listener->bound[listener->bound_count])
		listener->bound_count++;
}

void *listener_context(const struct listener *listener)
{
	return listener->context;
}

struct http *listener_http(const struct listener *listener)
{
	return listener->http;
}

const char *listener_text(const struct listener *listener)
{
	return listener->text;
}

const char *const *listener_bound(const struct listener *listener, size_t *count)
{
	*count = listener->bound_count;
	return (const char *const *)listener->bound;
}

const char *const *listener_tokens(const struct listener *listener, unsigned *count)
{
	*count = listener->token_count;
	return (const char *const *)listener->tokens;
}

const char *listener_name(const struct listener *listener)
{
	return address_name(&listener->address);
}

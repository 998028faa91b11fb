/* SPDX-License-Identifier: MIT */
/*
 * listeners.c - the addresses at which the server answers; see listeners.h.
 *
 * Each family has a claim: its wish and what became of it. The same address text is the same
 * listener, and a wish for what happens to be the default address shares the default listener.
 */
#include "dashboard/listeners.h"

#include "dashboard/address.h"
#include "dashboard/clock.h"
#include "dashboard/lockfile.h"
#include "dashboard/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define LISTENERS_MAX 33u
#define MESSAGE_MAX   512u
#define RETRY_MS      2000

struct claim {
	char id[48];
	char listen[ADDRESS_MAX];
	bool own;  /* of an address of its own; else at the default one */
	bool seen; /* still there at the last look */
	int err;   /* of the last try; 0 before the first and after a good one */
	int64_t tried;
	struct listener *listener;
};

struct listeners {
	struct listeners_options options;
	struct listener *list[LISTENERS_MAX];
	size_t count;
	struct listener *standard; /* the default one; in the list, too */
	int standard_err;
	int64_t standard_tried;
	struct claim *claims;
	size_t claim_count;
	int diag;
	bool is_written; /* server.lock says what is true */
};

int listeners_create(const struct listeners_options *options, struct listeners **out)
{
	struct listeners *listeners = calloc(1, sizeof *listeners);

	if (!listeners)
		return -ENOMEM;
	listeners->options = *options;
	listeners->diag = peer_open();
	if (listeners->diag < 0)
		log_line("no sock_diag (%s): TCP clients need the token",
			 strerror(-listeners->diag));
	*out = listeners;
	return 0;
}

void listeners_close_all(struct listeners *listeners)
{
	for (size_t i = 0; i < listeners->count; i++)
		listener_destroy(listeners->list[i]);
	listeners->count = 0;
	listeners->standard = NULL;
	listeners->claim_count = 0;
}

void listeners_destroy(struct listeners *listeners)
{
	if (!listeners)
		return;
	listeners_close_all(listeners);
	if (listeners->diag >= 0)
		close(listeners->diag);
	free(listeners->claims);
	free(listeners);
}

void listeners_set_lock(struct listeners *listeners, int lock)
{
	listeners->options.lock = lock;
	listeners->is_written = false;
}

/* Takes `fd`. 0 or -errno. */
static int add_listener(struct listeners *listeners, int fd, const char *text,
			struct listener **out)
{
	const struct listeners_options *options = &listeners->options;
	struct epoll_event event = {.events = EPOLLIN, .data.fd = -1};
	struct listener *listener;
	int err = listener_create(fd, text, listeners->diag, options->handler, options->context,
				  &listener);

	if (err)
		return err;
	if (epoll_ctl(options->epoll, EPOLL_CTL_ADD, http_fd(listener_http(listener)), &event)) {
		err = -errno;
		listener_destroy(listener);
		return err;
	}
	if (options->token)
		listener_add_token(listener, options->token, NULL);
	listeners->list[listeners->count++] = listener;
	log_line("listening at %s", text);
	*out = listener;
	return 0;
}

static int open_standard(struct listeners *listeners)
{
	const char *text = listeners->options.listen;
	char numbered[ADDRESS_MAX];
	struct address address;
	uint16_t port = 0;
	int fd;

	if (listeners->count == LISTENERS_MAX)
		return -ENOSPC;
	if (!text) {
		fd = address_listen_default(&port);
		snprintf(numbered, sizeof numbered, "127.0.0.1:%u", port);
		text = numbered;
	} else {
		fd = address_parse(text, &address);
		if (fd == 0)
			fd = address_listen(&address, listeners->options.token_is_explicit, NULL);
	}
	return fd < 0 ? fd : add_listener(listeners, fd, text, &listeners->standard);
}

static struct listener *find_listener(struct listeners *listeners, const char *text)
{
	for (size_t i = 0; i < listeners->count; i++)
		if (strcmp(listener_text(listeners->list[i]), text) == 0)
			return listeners->list[i];
	return NULL;
}

static int open_own(struct listeners *listeners, const struct family_wish *wish,
		    struct listener **out)
{
	struct address address;
	int fd;

	*out = find_listener(listeners, wish->listen);
	if (*out)
		return 0;
	if (listeners->count >= LISTENERS_MAX - 1) /* one place is for the default */
		return -ENOSPC;
	if (address_parse(wish->listen, &address))
		return -EINVAL;
	fd = address_listen(&address, wish->token_file[0] != '\0', NULL);
	return fd < 0 ? fd : add_listener(listeners, fd, wish->listen, out);
}

static const char *reason(int err)
{
	switch (err) {
	case -EINVAL:
		return "neither host:port nor unix:/path nor off";
	case -EPERM:
		return "other machines could reach it, which needs HEAPTAP_TOKEN_FILE";
	case -ENOENT:
		return "no such host";
	case -ENOSPC:
		return "the server has no room for more addresses";
	default:
		return strerror(-err);
	}
}

static void describe(const struct listeners *listeners, const struct claim *claim,
		     char message[MESSAGE_MAX])
{
	const char *text = listeners_default(listeners);
	char url[160];

	address_url(text, url, sizeof url);
	snprintf(message, MESSAGE_MAX, "HEAPTAP_LISTEN=%.80s: %s%s%s", claim->listen,
		 reason(claim->err), url[0] ? "; see it at " : "", url);
	for (char *at = message; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = '?'; /* server.lock has lines */
}

static void report(struct listeners *listeners, const struct claim *claim)
{
	char message[MESSAGE_MAX];

	describe(listeners, claim, message);
	log_line("family %s: %s", claim->id, message);
	families_set_problem(listeners->options.families, claim->id, "listen", message);
}

static struct claim *find_claim(struct listeners *listeners, const char *id)
{
	struct claim *claims;

	for (size_t i = 0; i < listeners->claim_count; i++)
		if (strcmp(listeners->claims[i].id, id) == 0)
			return &listeners->claims[i];
	claims = reallocarray(listeners->claims, listeners->claim_count + 1, sizeof *claims);
	if (!claims)
		return NULL;
	listeners->claims = claims;
	claims += listeners->claim_count++;
	*claims = (struct claim){0};
	snprintf(claims->id, sizeof claims->id, "%s", id);
	return claims;
}

/* Whether another try makes sense: a name is looked up once, as that stops the whole server. */
static bool is_due(const struct claim *claim)
{
	if (claim->tried == 0)
		return true;
	return (claim->err == -EADDRINUSE || claim->err == -EADDRNOTAVAIL) &&
	       clock_ms() - claim->tried >= RETRY_MS;
}

static int need_standard(struct listeners *listeners)
{
	int64_t now = clock_ms();

	if (listeners->standard ||
	    (listeners->standard_err && now - listeners->standard_tried < RETRY_MS))
		return listeners->standard ? 0 : listeners->standard_err;
	listeners->standard_tried = now;
	listeners->standard_err = open_standard(listeners);
	if (listeners->standard_err)
		log_line("default address: %s", strerror(-listeners->standard_err));
	return listeners->standard_err;
}

static void write_claim(const struct listeners *listeners, const struct claim *claim,
			struct buf *content)
{
	char message[MESSAGE_MAX];

	if (claim->own && claim->listener)
		buf_printf(content, "family %s %s\n", claim->id, listener_text(claim->listener));
	if (!claim->own || !claim->err)
		return;
	describe(listeners, claim, message);
	buf_printf(content, "problem %s %s\n", claim->id, message);
}

static void write_lock(struct listeners *listeners)
{
	const char *standard = listeners_default(listeners);
	struct buf content = {0};

	buf_printf(&content, "pid %d\n", getpid());
	if (standard[0])
		buf_printf(&content, "listen %s\n", standard);
	if (listeners->options.token)
		buf_printf(&content, "token %s\n", listeners->options.token_path);
	for (size_t i = 0; i < listeners->claim_count; i++)
		write_claim(listeners, &listeners->claims[i], &content);
	if (!content.failed && listeners->options.lock >= 0)
		listeners->is_written = lockfile_write(listeners->options.lock, &content) == 0;
	buf_destroy(&content);
}

static bool has_own(const struct family_wish *wish)
{
	return wish->listen[0] && strcmp(wish->listen, "off") != 0;
}

/* At the default address a family changes nothing, but its token is good there. */
static void claim_standard(struct listeners *listeners, struct claim *claim,
			   const struct family_wish *wish)
{
	int err = wish->listen[0] ? 0 : need_standard(listeners);

	if (err && err != claim->err)
		families_set_problem(listeners->options.families, wish->id, "listen",
				     "no port from 4327 to 4390 is free on 127.0.0.1; "
				     "HEAPTAP_LISTEN sets another address");
	claim->err = err;
	if (claim->listener || !listeners->standard)
		return;
	families_set_problem(listeners->options.families, wish->id, "listen", NULL);
	claim->listener = listeners->standard;
	listener_add_token_file(claim->listener, wish->token_file);
}

/* Returns whether something changed. */
static bool claim_own(struct listeners *listeners, struct claim *claim,
		      const struct family_wish *wish)
{
	int before = claim->tried ? claim->err : 1;

	if (claim->listener || !is_due(claim))
		return false;
	claim->own = true;
	snprintf(claim->listen, sizeof claim->listen, "%s", wish->listen);
	claim->err = open_own(listeners, wish, &claim->listener);
	claim->tried = clock_ms();
	if (claim->err == 0) {
		listener_bind(claim->listener, wish->id);
		listener_add_token_file(claim->listener, wish->token_file);
		families_set_problem(listeners->options.families, wish->id, "listen", NULL);
		return true;
	}
	claim->listener = NULL;
	need_standard(listeners);
	if (claim->err != before)
		report(listeners, claim);
	return claim->err != before;
}

/* Families that nobody remembers any more. */
static void forget_claims(struct listeners *listeners)
{
	size_t kept = 0;

	for (size_t i = 0; i < listeners->claim_count; i++) {
		if (!listeners->claims[i].seen)
			continue;
		listeners->claims[kept] = listeners->claims[i];
		listeners->claims[kept++].seen = false;
	}
	listeners->claim_count = kept;
}

int listeners_sync(struct listeners *listeners)
{
	const struct listener *standard = listeners->standard;
	bool changed = !listeners->is_written;
	struct family_wish wish;
	int err = listeners->options.always ? need_standard(listeners) : 0;

	for (size_t i = 0; families_wish(listeners->options.families, i, &wish); i++) {
		struct claim *claim = find_claim(listeners, wish.id);

		if (!claim)
			continue;
		claim->seen = true;
		if (wish.ended)
			continue;
		if (has_own(&wish))
			changed |= claim_own(listeners, claim, &wish);
		else
			claim_standard(listeners, claim, &wish);
	}
	forget_claims(listeners);
	if (changed || standard != listeners->standard)
		write_lock(listeners);
	return err;
}

void listeners_run(struct listeners *listeners)
{
	for (size_t i = 0; i < listeners->count; i++)
		http_run(listener_http(listeners->list[i]));
}

void listeners_expire(struct listeners *listeners)
{
	for (size_t i = 0; i < listeners->count; i++)
		http_expire(listener_http(listeners->list[i]));
}

int listeners_timeout_ms(const struct listeners *listeners)
{
	int least = -1;

	for (size_t i = 0; i < listeners->count; i++) {
		int timeout = http_timeout_ms(listener_http(listeners->list[i]));

		if (timeout >= 0 && (least < 0 || timeout < least))
			least = timeout;
	}
	return least;
}

uint64_t listeners_activity(const struct listeners *listeners)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < listeners->count; i++)
		sum += http_activity(listener_http(listeners->list[i]));
	return sum;
}

const char *listeners_default(const struct listeners *listeners)
{
	return listeners->standard ? listener_text(listeners->standard) : "";
}

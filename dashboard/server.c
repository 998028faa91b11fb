/* SPDX-License-Identifier: MIT */
/*
 * server.c - heaptap-server: shows every family of one directory, as long as there is any.
 *
 * Started by the agent of the first family, beside it, or by `heaptap serve`. Parses its arguments,
 * takes the lock, and wires: families (what is there) -> routes (what to say) -> listeners (to
 * whom). One thread, one epoll loop. It ends 3 s after the last family, unless in the foreground.
 *
 * Ending: an agent that finds the lock held counts on being seen. So the server lets go of the lock
 * first and looks once more; a family that came in between makes it take the lock again, unless
 * another server already has it.
 */
#include "dashboard/access.h"
#include "dashboard/address.h"
#include "dashboard/assets.h"
#include "dashboard/clock.h"
#include "dashboard/content.h"
#include "dashboard/families.h"
#include "dashboard/listeners.h"
#include "dashboard/lockfile.h"
#include "dashboard/log.h"
#include "dashboard/routes.h"
#include "dashboard/sandbox.h"
#include "dashboard/server_options.h"
#include "dashboard/token.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS	    100
#define LINGER_MS   3000
#define EVENTS	    16
#define IDLE_ROUNDS 200 /* rounds without progress until the loop pauses (EMFILE, and the like) */
#define PAUSE_MS    10

struct server {
	struct server_options options;
	int lock;
	int epoll;
	int timer;
	int signals;
	struct families *families;
	struct listeners *listeners;
	char token_path[4096];
	char token[TOKEN_MAX + 1];
	bool has_token;
	int64_t alone_since_ms; /* 0: there are families */
	uint64_t activity;
	unsigned idle_rounds;
};

static enum access_verdict check(const struct listener *listener, const struct http_request *from,
				 const char *path)
{
	struct access_query query = {
		.local = from->peer.local,
		.peer_known = from->peer.known,
		.peer_uid = from->peer.uid,
		.own_uid = geteuid(),
		.host = from->host,
		.authorization = from->authorization,
		.named_host = listener_name(listener),
		.open_path = assets_own(path) || strcmp(path, "/healthz") == 0,
	};

	query.tokens = listener_tokens(listener, &query.token_count);
	return access_check(&query);
}

static bool is_refused(const struct listener *listener, const struct http_request *from,
		       const char *path, struct response *response)
{
	switch (check(listener, from, path)) {
	case ACCESS_GRANTED:
		return false;
	case ACCESS_NO_RIGHT:
		response->authenticate = "Bearer realm=\"heaptap\"";
		routes_error(response, 401, "unauthorized",
			     "this server answers to its own user and to root; anybody else needs "
			     "its token (Authorization: Bearer TOKEN): as that user, "
			     "'heaptap ps' prints the address with the token");
		return true;
	case ACCESS_WRONG_HOST:
		break;
	}
	routes_error(response, 421, "wrong_host",
		     "the Host header names no address of this server; use localhost or an IP "
		     "address, or set that name in HEAPTAP_LISTEN, or send the token");
	return true;
}

static void answer(struct server *server, const struct request *request, struct response *response,
		   char etag[40])
{
	const struct model *model;
	int err;

	if (assets_own(request->path)) {
		assets_respond(web_assets, web_asset_count, request, response, etag);
		return;
	}
	err = families_model(server->families, &model);
	if (err)
		routes_error(response, 503, "no_model", strerror(-err));
	else
		routes_respond(request, model, response);
	content_compress(request, response);
}

/* What the request says is looked at before who says it, but never answered to anybody who may not
 * ask. */
static void handle(void *context, const struct http_request *from, struct response *response)
{
	static char etag[40]; /* one thread; http.c copies it at once */
	const struct listener *listener = context;
	struct request request = {
		.accepts_gzip = content_accepts_gzip(from->accept_encoding),
		.if_none_match = from->if_none_match,
	};
	char why[256] = "";
	int err = request_parse(&request, from->method, from->target, why, sizeof why);

	if (is_refused(listener, from, err ? "" : request.path, response))
		return;
	request.bound = listener_bound(listener, &request.bound_count);
	if (from->too_large)
		routes_error(response, 413, "too_large", "the body is larger than 65536 bytes");
	else if (err == -ENAMETOOLONG)
		routes_error(response, 414, "too_long", "the target is longer than 4096 bytes");
	else if (err)
		routes_error(response, 400, "bad_parameter", why);
	else
		answer(listener_context(listener), &request, response, etag);
}

static int watch(const struct server *server, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP); /* the terminal of `heaptap serve` is gone */
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int open_timer(void)
{
	struct itimerspec every = {{0, TICK_MS * 1000000l}, {0, TICK_MS * 1000000l}};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0)
		timerfd_settime(fd, 0, &every, NULL);
	return fd < 0 ? -errno : fd;
}

static int open_loop(struct server *server)
{
	int err;

	server->signals = open_signals();
	server->timer = open_timer();
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (server->signals < 0 || server->timer < 0 || server->epoll < 0)
		return -EMFILE;
	err = watch(server, server->signals);
	if (err == 0)
		err = watch(server, server->timer);
	return err ? err : watch(server, families_fd(server->families));
}

static void make_token(struct server *server)
{
	const struct server_options *options = &server->options;
	int err;

	if (options->token_file)
		snprintf(server->token_path, sizeof server->token_path, "%s", options->token_file);
	else
		snprintf(server->token_path, sizeof server->token_path, "%s/token", options->dir);
	err = token_make(server->token_path, server->token);
	server->has_token = err == 0;
	if (err)
		log_line("token file %s: %s; nobody gets in by token", server->token_path,
			 err == -EPERM	  ? "others may read or write it"
			 : err == -EINVAL ? "not 16 to 255 printable characters"
					  : strerror(-err));
}

static int open_listeners(struct server *server)
{
	struct listeners_options options = {
		.families = server->families,
		.listen = server->options.listen,
		.always = server->options.foreground,
		.token_path = server->token_path,
		.token = server->has_token ? server->token : NULL,
		.token_is_explicit = server->has_token && server->options.token_file,
		.epoll = server->epoll,
		.lock = server->lock,
		.handler = handle,
		.context = server,
	};
	int err = listeners_create(&options, &server->listeners);

	return err ? err : listeners_sync(server->listeners);
}

/* Whether the server goes on. */
static bool leave_or_stay(struct server *server)
{
	log_line("no process is left to observe");
	listeners_close_all(server->listeners);
	lockfile_release(server->lock);
	server->lock = -1;
	if (families_rescan(server->families) <= 0)
		return false;
	server->lock = lockfile_take(server->options.dir);
	if (server->lock < 0)
		return false;
	listeners_set_lock(server->listeners, server->lock);
	return true;
}

/* Whether the server goes on. */
static bool tick(struct server *server)
{
	size_t before = families_live(server->families);

	families_tick(server->families);
	if (families_live(server->families) < before)
		families_prune(server->families);
	listeners_sync(server->listeners);
	listeners_expire(server->listeners);
	if (server->options.foreground || families_live(server->families) > 0) {
		server->alone_since_ms = 0;
		return true;
	}
	if (server->alone_since_ms == 0)
		server->alone_since_ms = clock_ms();
	if (clock_ms() - server->alone_since_ms < LINGER_MS)
		return true;
	server->alone_since_ms = 0;
	families_prune(server->families); /* of those too that came and went between two ticks */
	return leave_or_stay(server);
}

/* A listening socket stays readable while no descriptor is free to accept with. */
static void pause_without_progress(struct server *server)
{
	uint64_t activity = listeners_activity(server->listeners);
	struct timespec pause = {0, PAUSE_MS * 1000000l};

	if (activity != server->activity)
		server->idle_rounds = 0;
	server->activity = activity;
	if (++server->idle_rounds > IDLE_ROUNDS)
		nanosleep(&pause, NULL);
}

/* Takes in what one descriptor of ours has to say. Whether the server goes on. */
static bool take(struct server *server, int fd)
{
	struct signalfd_siginfo signal_info;
	uint64_t times;

	if (fd == server->signals && read(fd, &signal_info, sizeof signal_info) > 0) {
		log_line("ending: signal %u", signal_info.ssi_signo);
		return false;
	}
	if (fd == server->timer && read(fd, &times, sizeof times) > 0) {
		server->idle_rounds = 0;
		return tick(server);
	}
	if (fd == families_fd(server->families))
		families_events(server->families);
	return true;
}

static void run(struct server *server)
{
	struct epoll_event events[EVENTS];

	for (;;) {
		int timeout = listeners_timeout_ms(server->listeners);
		int count = epoll_wait(server->epoll, events, EVENTS, timeout);

		if (count < 0 && errno != EINTR)
			return;
		for (int i = 0; i < count; i++)
			if (events[i].data.fd >= 0 && !take(server, events[i].data.fd))
				return;
		listeners_run(server->listeners);
		pause_without_progress(server);
	}
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void close_server(struct server *server)
{
	listeners_destroy(server->listeners);
	families_destroy(server->families);
	close_fd(server->epoll);
	close_fd(server->timer);
	close_fd(server->signals);
	if (server->lock >= 0)
		lockfile_release(server->lock);
}

/* In the foreground a second server is a mistake, and its user is told of the first. */
static int lock_is_held(const struct server_options *options)
{
	struct lockfile_info info;
	char url[160] = "";

	if (!options->foreground)
		return EXIT_SUCCESS;
	if (lockfile_read(options->dir, &info))
		return EXIT_FAILURE;
	address_url(info.listen, url, sizeof url);
	fprintf(stderr, "heaptap-server: process %d serves %s already%s%s\n", info.pid,
		options->dir, url[0] ? ", at " : "", url);
	lockfile_destroy(&info);
	return EXIT_FAILURE;
}

static int complain(const struct server *server, const char *what, int err)
{
	log_line("%s: %s", what, strerror(-err));
	if (server->options.foreground && !server->options.log)
		return EXIT_FAILURE;
	if (server->options.foreground)
		fprintf(stderr, "heaptap-server: %s: %s\n", what, strerror(-err));
	return EXIT_FAILURE;
}

/* Listens before anything that takes time. */
static int serve(struct server *server)
{
	const struct server_options *options = &server->options;
	int err;

	server->lock = lockfile_take(options->dir);
	if (server->lock == -EWOULDBLOCK)
		return lock_is_held(options);
	if (server->lock < 0)
		return complain(server, options->dir, server->lock);
	err = families_create(options->dir, &server->families);
	if (err)
		return complain(server, options->dir, err);
	err = open_loop(server);
	if (err)
		return complain(server, "event loop", err);
	make_token(server);
	err = open_listeners(server);
	if (err && options->foreground)
		return complain(server, options->listen ? options->listen : "127.0.0.1", err);
	if (options->foreground)
		server_options_greet(options, listeners_default(server->listeners),
				     server->has_token ? server->token : NULL);
	err = sandbox_enter();
	if (err)
		log_line("no sandbox: %s", strerror(-err));
	families_prune(server->families);
	run(server);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct server server = {.lock = -1, .epoll = -1, .timer = -1, .signals = -1};
	int status = server_options_parse(argc, argv, &server.options);

	if (status >= 0)
		return status;
	if (!server.options.foreground && server_options_are_absolute(&server.options) &&
	    chdir("/"))
		return EXIT_FAILURE; /* anywhere else it would keep a file system busy */
	umask(077);
	sandbox_limit();
	if (log_open(server.options.log, server.options.foreground && !server.options.log) &&
	    server.options.foreground)
		fprintf(stderr, "heaptap-server: %s cannot be written\n", server.options.log);
	if (mkdir(server.options.dir, 0700) && errno != EEXIST)
		return complain(&server, server.options.dir, -errno);
	status = serve(&server);
	close_server(&server);
	return status;
}

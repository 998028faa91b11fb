/* SPDX-License-Identifier: MIT */
/*
 * http.c - the only file that uses libmicrohttpd; see http.h.
 *
 * libmicrohttpd runs without a thread of its own (external epoll mode): its epoll descriptor is
 * nested in the server's. The peer of a connection is looked up once, when it opens.
 *
 * Everybody on this machine can connect to a loopback port, and all have the same address, so a
 * limit per address is no use. Instead connections of other users get only a part of the places,
 * and one that takes longer than its time over one request is ended: libmicrohttpd's own timeout
 * starts anew with every byte, which a slow sender makes use of.
 *
 * Answers that libmicrohttpd makes itself (400, 431 to what is no HTTP at all) carry no headers of
 * ours.
 */
#include "dashboard/http.h"

#include "dashboard/clock.h"
#include "dashboard/log.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX	  64u
#define STRANGERS_MAX	  40u
#define IDLE_S		  15u
#define MEMORY_PER_CLIENT 32768u
#define BODY_MAX	  65536u
#define REQUEST_MS	  30000	 /* to send a whole request, or between two */
#define RESPONSE_MS	  120000 /* to take the response */

struct exchange { /* one request of a connection */
	size_t body;
	bool begun;
	char target[];
};

struct connection {
	struct connection *next;
	struct connection **link; /* what points to this one */
	struct peer peer;
	bool stranger;
	bool answering;
	int fd;
	int64_t since_ms; /* start of the current phase */
	struct exchange *exchange;
};

struct http {
	struct MHD_Daemon *daemon;
	http_handler *handler;
	void *context;
	int diag;
	struct connection *connections;
	unsigned strangers;
	uint64_t activity;
};

static void on_log(void *context, const char *format, va_list arguments)
{
	char line[256];

	(void)context;
	vsnprintf(line, sizeof line, format, arguments);
	line[strcspn(line, "\n")] = '\0';
	log_line("http: %s", line);
}

static void connection_open(struct http *http, struct MHD_Connection *handle, void **slot)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *connection = info ? calloc(1, sizeof *connection) : NULL;

	*slot = connection;
	if (!connection) {
		if (info)
			shutdown(info->connect_fd, SHUT_RDWR);
		return;
	}
	connection->fd = info->connect_fd;
	connection->since_ms = clock_ms();
	connection->peer = peer_of(http->diag, connection->fd);
	connection->stranger = !connection->peer.known ||
			       (connection->peer.uid != geteuid() && connection->peer.uid != 0);
	connection->next = http->connections;
	connection->link = &http->connections;
	if (connection->next)
		connection->next->link = &connection->next;
	http->connections = connection;
	http->strangers += connection->stranger;
	if (http->strangers > STRANGERS_MAX && connection->stranger)
		shutdown(connection->fd, SHUT_RDWR);
}

static void connection_close(struct http *http, struct connection *connection)
{
	if (!connection)
		return;
	*connection->link = connection->next;
	if (connection->next)
		connection->next->link = connection->link;
	http->strangers -= connection->stranger;
	free(connection->exchange);
	free(connection);
}

static void on_connection(void *context, struct MHD_Connection *handle, void **slot,
			  enum MHD_ConnectionNotificationCode what)
{
	struct http *http = context;

	http->activity++;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		connection_open(http, handle, slot);
	} else {
		connection_close(http, *slot);
		*slot = NULL;
	}
}

static struct connection *connection_of(struct MHD_Connection *handle)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* The only place where the target is to be had undecoded. It belongs to the connection: a request
 * that libmicrohttpd itself refuses later on is never reported as completed. */
static void *on_target(void *context, const char *target, struct MHD_Connection *handle)
{
	struct connection *connection = connection_of(handle);
	size_t size = strlen(target) + 1;

	(void)context;
	if (!connection)
		return NULL;
	free(connection->exchange);
	connection->exchange = calloc(1, sizeof *connection->exchange + size);
	if (connection->exchange)
		memcpy(connection->exchange->target, target, size);
	return connection->exchange;
}

/* request.c decodes, and strictly. */
static size_t on_unescape(void *context, struct MHD_Connection *handle, char *text)
{
	(void)context;
	(void)handle;
	return strlen(text);
}

static void on_completed(void *context, struct MHD_Connection *handle, void **slot,
			 enum MHD_RequestTerminationCode how)
{
	struct connection *connection = connection_of(handle);
	struct http *http = context;

	(void)how;
	http->activity++;
	*slot = NULL;
	if (connection) {
		free(connection->exchange);
		connection->exchange = NULL;
		connection->answering = false;
		connection->since_ms = clock_ms();
	}
}

static const char *const security_headers[][2] = {
	{"Content-Security-Policy",
	 "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	 "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
	 "require-trusted-types-for 'script'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"X-Frame-Options", "DENY"},
};

static void add_header(struct MHD_Response *handle, const char *name, const char *value)
{
	if (value)
		MHD_add_response_header(handle, name, value);
}

static void add_headers(struct MHD_Response *handle, const struct response *response)
{
	for (size_t i = 0; i < sizeof security_headers / sizeof security_headers[0]; i++)
		add_header(handle, security_headers[i][0], security_headers[i][1]);
	add_header(handle, "Content-Type", response->content_type);
	add_header(handle, "Content-Encoding", response->gzipped ? "gzip" : NULL);
	add_header(handle, "Vary", response->varies ? "Accept-Encoding" : NULL);
	add_header(handle, "ETag", response->etag);
	add_header(handle, "Cache-Control", response->cache_control);
	add_header(handle, "Allow", response->allow);
	add_header(handle, "WWW-Authenticate", response->authenticate);
}

/* The body's memory goes over to libmicrohttpd. */
static struct MHD_Response *make_response(struct response *response)
{
	struct buf body = response->body;
	struct MHD_Response *handle;

	if (response->fixed)
		return MHD_create_response_from_buffer(
			response->fixed_size, (void *)response->fixed, MHD_RESPMEM_PERSISTENT);
	if (!body.data)
		return MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
	handle = MHD_create_response_from_buffer(body.size, body.data, MHD_RESPMEM_MUST_FREE);
	if (handle)
		response->body = (struct buf){0};
	return handle;
}

static enum MHD_Result respond(struct MHD_Connection *connection, struct response *response)
{
	struct MHD_Response *handle = make_response(response);
	enum MHD_Result result = MHD_NO;

	if (handle) {
		add_headers(handle, response);
		result = MHD_queue_response(connection, (unsigned)response->status, handle);
		MHD_destroy_response(handle);
	}
	response_destroy(response);
	return result;
}

static const char *header(struct MHD_Connection *handle, const char *name)
{
	return MHD_lookup_connection_value(handle, MHD_HEADER_KIND, name);
}

static bool announces_too_much(struct MHD_Connection *handle)
{
	const char *length = header(handle, "Content-Length");

	return length && strtoull(length, NULL, 10) > BODY_MAX;
}

static enum MHD_Result answer(struct http *http, struct MHD_Connection *handle, const char *method,
			      const struct exchange *exchange)
{
	struct connection *connection = connection_of(handle);
	struct http_request request = {
		.method = method,
		.target = exchange->target,
		.host = header(handle, "Host"),
		.authorization = header(handle, "Authorization"),
		.accept_encoding = header(handle, "Accept-Encoding"),
		.if_none_match = header(handle, "If-None-Match"),
		.too_large = announces_too_much(handle),
	};
	struct response response = {0};

	if (!connection)
		return MHD_NO;
	request.peer = connection->peer;
	connection->answering = true;
	connection->since_ms = clock_ms();
	http->handler(http->context, &request, &response);
	return respond(handle, &response);
}

static bool is_read(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* Called once with the headers, then for every piece of the body, then once at its end. Answering
 * at the first call makes libmicrohttpd close the connection, which is right for what is refused.
 */
static enum MHD_Result on_request(void *context, struct MHD_Connection *handle, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **slot)
{
	struct exchange *exchange = *slot;
	struct http *http = context;

	(void)url;
	(void)version;
	(void)upload;
	http->activity++;
	if (!exchange)
		return MHD_NO;
	if (!exchange->begun) {
		exchange->begun = true;
		if (!is_read(method) || announces_too_much(handle))
			return answer(http, handle, method, exchange);
		return MHD_YES;
	}
	if (*upload_size > 0) {
		exchange->body += *upload_size;
		*upload_size = 0;
		return exchange->body > BODY_MAX ? MHD_NO : MHD_YES;
	}
	return answer(http, handle, method, exchange);
}

int http_create(int listen_fd, int diag, http_handler *handler, void *context, struct http **out)
{
	struct http *http = calloc(1, sizeof *http);

	if (!http) {
		close(listen_fd);
		return -ENOMEM;
	}
	http->handler = handler;
	http->context = context;
	http->diag = diag;
	http->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, http,
		MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, /* first, to get what follows logged */
		MHD_OPTION_LISTEN_SOCKET, listen_fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)MEMORY_PER_CLIENT, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_URI_LOG_CALLBACK, on_target, NULL, MHD_OPTION_UNESCAPE_CALLBACK,
		on_unescape, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
	if (!http->daemon) {
		close(listen_fd);
		free(http);
		return -EIO;
	}
	*out = http;
	return 0;
}

void http_destroy(struct http *http)
{
	if (!http)
		return;
	MHD_stop_daemon(http->daemon);
	free(http);
}

int http_fd(const struct http *http)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->epoll_fd : -1;
}

int http_timeout_ms(const struct http *http)
{
	MHD_UNSIGNED_LONG_LONG timeout;

	if (MHD_get_timeout(http->daemon, &timeout) != MHD_YES)
		return -1;
	return timeout > 60000 ? 60000 : (int)timeout;
}

void http_run(struct http *http)
{
	MHD_run(http->daemon);
}

void http_expire(struct http *http)
{
	int64_t now = clock_ms();

	for (struct connection *one = http->connections; one; one = one->next)
		if (now - one->since_ms > (one->answering ? RESPONSE_MS : REQUEST_MS))
			shutdown(one->fd, SHUT_RDWR);
}

uint64_t http_activity(const struct http *http)
{
	return http->activity;
}

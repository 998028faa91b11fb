/* SPDX-License-Identifier: MIT */
/*
 * address.c - addresses as text and as listening sockets; see address.h.
 */
#include "dashboard/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 64

static int parse_port(const char *text, uint16_t *port)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long value;

	if (digits == 0 || digits > 5 || text[digits])
		return -EINVAL;
	value = strtoul(text, NULL, 10);
	if (value == 0 || value > UINT16_MAX)
		return -EINVAL;
	*port = (uint16_t)value;
	return 0;
}

static int parse_unix(const char *path, struct address *out)
{
	struct sockaddr_un limit;

	if (path[0] != '/' || strlen(path) >= sizeof limit.sun_path)
		return -EINVAL;
	for (const char *at = path; *at; at++)
		if ((unsigned char)*at < ' ')
			return -EINVAL;
	*out = (struct address){.is_unix = true};
	snprintf(out->host, sizeof out->host, "%s", path);
	return 0;
}

static bool is_host(const char *host)
{
	size_t size = strlen(host);

	return size > 0 && strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789.-_") == size;
}

int address_parse(const char *text, struct address *out)
{
	struct address address = {0};
	struct in6_addr ipv6;
	const char *colon = strrchr(text, ':');
	size_t size;
	bool bracketed;

	if (strncmp(text, "unix:", 5) == 0)
		return parse_unix(text + 5, out);
	if (!colon || strlen(text) >= ADDRESS_MAX || parse_port(colon + 1, &address.port))
		return -EINVAL;
	size = (size_t)(colon - text);
	bracketed = size > 2 && text[0] == '[' && text[size - 1] == ']';
	snprintf(address.host, sizeof address.host, "%.*s", (int)(bracketed ? size - 2 : size),
		 bracketed ? text + 1 : text);
	if (bracketed ? inet_pton(AF_INET6, address.host, &ipv6) != 1 : !is_host(address.host))
		return -EINVAL;
	*out = address;
	return 0;
}

const char *address_name(const struct address *address)
{
	struct in6_addr any;

	if (address->is_unix || inet_pton(AF_INET, address->host, &any) == 1 ||
	    inet_pton(AF_INET6, address->host, &any) == 1)
		return NULL;
	return address->host;
}

static bool is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)address;

	if (address->sa_family == AF_INET)
		return ntohl(ipv4->sin_addr.s_addr) >> 24 == 127;
	if (IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr))
		return ipv6->sin6_addr.s6_addr[12] == 127;
	return IN6_IS_ADDR_LOOPBACK(&ipv6->sin6_addr);
}

static int listen_tcp(const struct sockaddr *address, socklen_t size)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1, err;

	if (fd < 0)
		return -errno;
	/* A server that was killed leaves connections in TIME_WAIT; they must not keep the next one
	 * from its port. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, address, size) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Whether nobody listens there any more: the file was left by one who was killed. */
static bool is_stale(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool refused;

	if (fd < 0)
		return false;
	refused = connect(fd, (const struct sockaddr *)address, sizeof *address) &&
		  errno == ECONNREFUSED;
	close(fd);
	return refused;
}

static int listen_unix(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	mode_t mask;
	int fd, err = 0;

	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	if (lstat(path, &status) == 0) {
		if (!S_ISSOCK(status.st_mode) || !is_stale(&address))
			return -EADDRINUSE;
		unlink(path);
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0177);
	if (bind(fd, (const struct sockaddr *)&address, sizeof address) || listen(fd, BACKLOG))
		err = -errno;
	umask(mask);
	if (err)
		close(fd);
	return err ? err : fd;
}

/* The loop waits for this look-up, so one try of one second has to do. */
static int look_up(const struct address *address, struct addrinfo **list)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	char port[8];

	if (!address_name(address))
		hints.ai_flags |= AI_NUMERICHOST;
	else if (res_init() == 0) {
		_res.retrans = 1;
		_res.retry = 1;
	}
	snprintf(port, sizeof port, "%u", address->port);
	return getaddrinfo(address->host, port, &hints, list) ? -ENOENT : 0;
}

int address_listen(const struct address *address, bool allow_foreign, bool *loopback)
{
	struct addrinfo *list;
	int fd;

	if (address->is_unix) {
		if (loopback)
			*loopback = true;
		return listen_unix(address->host);
	}
	fd = look_up(address, &list);
	if (fd < 0)
		return fd;
	fd = -ENOENT;
	for (const struct addrinfo *one = list; one && fd < 0; one = one->ai_next) {
		bool is_local = is_loopback(one->ai_addr);

		if (!is_local && !allow_foreign) {
			fd = -EPERM;
			break;
		}
		fd = listen_tcp(one->ai_addr, one->ai_addrlen);
		if (fd >= 0 && loopback)
			*loopback = is_local;
	}
	freeaddrinfo(list);
	return fd;
}

int address_listen_default(uint16_t *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	int fd = -EADDRINUSE;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (unsigned number = ADDRESS_PORT_FIRST; number <= ADDRESS_PORT_LAST; number++) {
		address.sin_port = htons((uint16_t)number);
		fd = listen_tcp((const struct sockaddr *)&address, sizeof address);
		if (fd != -EADDRINUSE && fd != -EACCES) {
			*port = (uint16_t)number;
			break;
		}
	}
	return fd;
}

void address_url(const char *text, char *url, size_t size)
{
	struct address address;

	url[0] = '\0';
	if (address_parse(text, &address) || address.is_unix)
		return;
	if (strcmp(address.host, "0.0.0.0") == 0)
		snprintf(url, size, "http://127.0.0.1:%u", address.port);
	else if (strcmp(address.host, "::") == 0)
		snprintf(url, size, "http://[::1]:%u", address.port);
	else
		snprintf(url, size, strchr(address.host, ':') ? "http://[%s]:%u" : "http://%s:%u",
			 address.host, address.port);
}

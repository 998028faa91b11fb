/* SPDX-License-Identifier: MIT */
/*
 * access.c - who may ask; see access.h.
 */
#include "dashboard/access.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define HOST_MAX 255u

static bool is_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits > 0 && digits <= 5 && text[digits] == '\0';
}

static bool is_ipv6_literal(const char *host)
{
	const char *end = strchr(host, ']');
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;
	size_t size = end ? (size_t)(end - host - 1) : 0;

	if (!end || size >= sizeof text || (end[1] && (end[1] != ':' || !is_port(end + 2))))
		return false;
	memcpy(text, host + 1, size);
	text[size] = '\0';
	return inet_pton(AF_INET6, text, &address) == 1;
}

/* The name without its port and without the dot of a fully qualified name. False where what
 * follows the name is no port. */
static bool split_name(const char *host, char name[HOST_MAX + 1])
{
	size_t size = strcspn(host, ":");

	if (size == 0 || size > HOST_MAX || (host[size] == ':' && !is_port(host + size + 1)))
		return false;
	memcpy(name, host, size);
	name[size] = '\0';
	if (size > 1 && name[size - 1] == '.')
		name[size - 1] = '\0';
	return true;
}

static bool is_localhost(const char *name)
{
	static const char suffix[] = ".localhost";
	size_t size = strlen(name);

	if (strcasecmp(name, "localhost") == 0)
		return true;
	return size >= sizeof suffix && strcasecmp(name + size - (sizeof suffix - 1), suffix) == 0;
}

bool access_host_allowed(const char *host, const char *named_host)
{
	char name[HOST_MAX + 1];
	struct in_addr address;

	if (host[0] == '[')
		return is_ipv6_literal(host);
	if (!split_name(host, name))
		return false;
	if (is_localhost(name) || inet_pton(AF_INET, name, &address) == 1)
		return true;
	return named_host && strcasecmp(name, named_host) == 0;
}

bool access_token_matches(const char *authorization, const char *token)
{
	static const char scheme[] = "Bearer ";
	size_t wanted = strlen(token), given;
	unsigned difference;

	if (!authorization || wanted == 0 ||
	    strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
		return false;
	authorization += sizeof scheme - 1;
	authorization += strspn(authorization, " ");
	given = strlen(authorization);
	difference = given != wanted;
	/* As many steps as the caller's text is long, whatever the token is. */
	for (size_t i = 0; i < given; i++)
		difference |= (unsigned char)authorization[i] ^ (unsigned char)token[i % wanted];
	return difference == 0;
}

static bool has_token(const struct access_query *query)
{
	bool found = false;

	for (unsigned i = 0; i < query->token_count; i++)
		if (query->tokens[i])
			found |= access_token_matches(query->authorization, query->tokens[i]);
	return found;
}

enum access_verdict access_check(const struct access_query *query)
{
	bool trusted = has_token(query);

	if (!trusted && query->host && !access_host_allowed(query->host, query->named_host))
		return ACCESS_WRONG_HOST;
	if (trusted || query->open_path)
		return ACCESS_GRANTED;
	if (query->local && query->peer_known &&
	    (query->peer_uid == query->own_uid || query->peer_uid == 0))
		return ACCESS_GRANTED;
	return ACCESS_NO_RIGHT;
}

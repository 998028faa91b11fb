/* SPDX-License-Identifier: MIT */
/*
 * request.c - strict parsing of a request target; see request.h.
 */
#include "dashboard/request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool is_utf8(const char *text)
{
	while (*text) {
		size_t length = utf8_sequence(text);

		if (length == 0)
			return false;
		text += length;
	}
	return true;
}

/* Decodes in place; NULL, or what is wrong. */
static const char *decode(char *text, bool plus_is_space)
{
	char *out = text;

	for (const char *in = text; *in; in++) {
		int high, low;

		if (*in != '%') {
			*out++ = *in == '+' && plus_is_space ? ' ' : *in;
			continue;
		}
		high = hex_digit(in[1]);
		low = high < 0 ? -1 : hex_digit(in[2]);
		if (low < 0)
			return "'%' must be followed by two hexadecimal digits";
		if (high == 0 && low == 0)
			return "%00 is not allowed";
		*out++ = (char)(high << 4 | low);
		in += 2;
	}
	*out = '\0';
	return is_utf8(text) ? NULL : "not valid UTF-8";
}

static int parse_param(struct request *request, char *text, char *why, size_t why_size)
{
	char *value = strchr(text, '=');
	const char *wrong;

	if (request->param_count == REQUEST_PARAMS) {
		snprintf(why, why_size, "more than %u parameters", REQUEST_PARAMS);
		return -EINVAL;
	}
	if (value)
		*value++ = '\0';
	wrong = decode(text, true);
	if (wrong) {
		snprintf(why, why_size, "parameter name number %zu: %s", request->param_count + 1,
			 wrong);
		return -EINVAL;
	}
	wrong = value ? decode(value, true) : NULL;
	if (wrong) {
		snprintf(why, why_size, "%.64s: %s", text, wrong);
		return -EINVAL;
	}
	request->params[request->param_count++] = (struct param){text, value ? value : ""};
	return 0;
}

static int parse_query(struct request *request, char *query, char *why, size_t why_size)
{
	while (query) {
		char *next = strchr(query, '&');
		int err = 0;

		if (next)
			*next++ = '\0';
		if (*query)
			err = parse_param(request, query, why, why_size);
		if (err)
			return err;
		query = next;
	}
	return 0;
}

/* A proxy may send "GET http://host/path": the authority says nothing that Host does not. */
static char *skip_authority(char *target)
{
	char *authority = strstr(target, "://");
	char *query = strchr(target, '?');

	if (target[0] == '/' || !authority || (query && query < authority))
		return target;
	authority += 3;
	return authority + strcspn(authority, "/?");
}

int request_parse(struct request *request, const char *method, const char *target, char *why,
		  size_t why_size)
{
	size_t length = strlen(target);
	const char *wrong;
	char *path, *query;

	if (length > REQUEST_TARGET_MAX)
		return -ENAMETOOLONG;
	memcpy(request->storage, target, length + 1);
	path = skip_authority(request->storage);
	path[strcspn(path, "#")] = '\0';
	query = strchr(path, '?');
	if (query)
		*query++ = '\0';
	wrong = decode(path, false);
	if (wrong) {
		snprintf(why, why_size, "path: %s", wrong);
		return -EINVAL;
	}
	request->method = method;
	request->path = path;
	request->param_count = 0;
	return parse_query(request, query, why, why_size);
}

void response_destroy(struct response *response)
{
	buf_destroy(&response->body);
}

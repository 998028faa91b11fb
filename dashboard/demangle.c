/* SPDX-License-Identifier: MIT */
/*
 * demangle.c - libiberty's demanglers within bounds.
 *
 * A mangled name may refer back to its own parts, so 200 bytes can stand for more output than
 * there is memory or time for. The callback forms allocate nothing for the output, so we leave
 * them by longjmp when there is enough of it. Depth is bounded by libiberty's own recursion limit
 * and by the length of what it is given.
 */
#include "dashboard/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MANGLED_MAX = 2048, NAME_MAX_SHOWN = 1024 };

struct output {
	char text[NAME_MAX_SHOWN + sizeof("...")];
	size_t length;
	jmp_buf full;
};

static void append(const char *text, size_t length, void *opaque)
{
	struct output *out = opaque;
	size_t room = NAME_MAX_SHOWN - out->length;

	if (length == 0) /* text may be NULL then */
		return;
	memcpy(out->text + out->length, text, length < room ? length : room);
	out->length += length < room ? length : room;
	if (length > room)
		longjmp(out->full, 1);
}

static bool demangle_into(const char *name, struct output *out)
{
	out->length = 0;
	if (setjmp(out->full) != 0) {
		memcpy(out->text + out->length, "...", 3);
		out->length += 3;
		return true;
	}
	/* Rust first: its older names are valid C++ ones with a hash at the end. */
	if (rust_demangle_callback(name, 0, append, out) && out->length > 0)
		return true;
	out->length = 0;
	return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, append, out) &&
	       out->length > 0;
}

char *demangle(const char *name)
{
	size_t length = strnlen(name, MANGLED_MAX + 1);
	struct output *out;
	char *result;

	if (length > MANGLED_MAX)
		return strndup(name, NAME_MAX_SHOWN);
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return strndup(name, NAME_MAX_SHOWN);
	out = malloc(sizeof(*out));
	if (!out)
		return NULL;
	if (demangle_into(name, out))
		result = strndup(out->text, out->length);
	else
		result = strndup(name, NAME_MAX_SHOWN);
	free(out);
	return result;
}

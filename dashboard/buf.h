/* SPDX-License-Identifier: MIT */
/*
 * buf.h - growable bytes, always NUL-terminated.
 *
 * A low-level primitive that knows nothing of what stands above it. Errors are sticky: once memory
 * was refused, `failed` is set, everything later is ignored, and the one check at the end is
 * enough. A zeroed struct is an empty buffer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data; /* malloc'd, NUL-terminated; NULL while nothing was ever added */
	size_t size;
	size_t capacity;
	bool failed;
};

void buf_destroy(struct buf *buf); /* leaves it empty and usable */
void buf_clear(struct buf *buf);   /* keeps the memory */

/* Room for `extra` bytes behind the content, for callers that fill it and add to `size` themselves.
 * NULL where memory was refused. */
char *buf_reserve(struct buf *buf, size_t extra);

void buf_add(struct buf *buf, const void *bytes, size_t size);
void buf_add_text(struct buf *buf, const char *text);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds `text` as valid UTF-8: each byte that is not part of a well-formed sequence (overlong forms,
 * surrogates and code points above U+10FFFF are none) becomes U+FFFD. */
void buf_add_utf8(struct buf *buf, const char *text);

/* Adds `text` as a JSON string with its quotes, sanitised as above; NULL becomes null. */
void buf_add_json(struct buf *buf, const char *text);

/* Length of the well-formed UTF-8 sequence at `text` (NUL-terminated), 0 where there is none. */
size_t utf8_sequence(const char *text);

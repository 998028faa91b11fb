/* SPDX-License-Identifier: MIT */
/*
 * buf.c - growable bytes; see buf.h. Doubles its room, so that n appends cost O(n).
 */
#include "dashboard/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256u

void buf_destroy(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){0};
}

void buf_clear(struct buf *buf)
{
	buf->size = 0;
	buf->failed = false;
	if (buf->data)
		buf->data[0] = '\0';
}

static bool grow(struct buf *buf, size_t wanted)
{
	size_t capacity = buf->capacity ? buf->capacity : FIRST_CAPACITY;
	char *data;

	while (capacity < wanted && capacity <= SIZE_MAX / 2)
		capacity *= 2;
	data = capacity < wanted ? NULL : realloc(buf->data, capacity);
	if (!data) {
		buf->failed = true;
		return false;
	}
	buf->data = data;
	buf->capacity = capacity;
	return true;
}

char *buf_reserve(struct buf *buf, size_t extra)
{
	size_t wanted;

	if (buf->failed)
		return NULL;
	if (__builtin_add_overflow(buf->size, extra, &wanted) ||
	    __builtin_add_overflow(wanted, 1, &wanted)) {
		buf->failed = true;
		return NULL;
	}
	if (wanted > buf->capacity && !grow(buf, wanted))
		return NULL;
	return buf->data + buf->size;
}

void buf_add(struct buf *buf, const void *bytes, size_t size)
{
	char *end = buf_reserve(buf, size);

	if (!end)
		return;
	if (size > 0)
		memcpy(end, bytes, size);
	end[size] = '\0';
	buf->size += size;
}

void buf_add_text(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list arguments, again;
	int length;
	char *end;

	va_start(arguments, format);
	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, arguments);
	end = length < 0 ? NULL : buf_reserve(buf, (size_t)length);
	if (end) {
		vsnprintf(end, (size_t)length + 1, format, again);
		buf->size += (size_t)length;
	}
	va_end(again);
	va_end(arguments);
}

static bool is_continuation(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* The second byte's range excludes overlong forms, surrogates and what lies above U+10FFFF (table
 * 3-7 of the Unicode standard). */
static bool second_fits(unsigned char first, unsigned char second)
{
	switch (first) {
	case 0xe0:
		return second >= 0xa0 && second <= 0xbf;
	case 0xed:
		return second >= 0x80 && second <= 0x9f;
	case 0xf0:
		return second >= 0x90 && second <= 0xbf;
	case 0xf4:
		return second >= 0x80 && second <= 0x8f;
	default:
		return is_continuation(second);
	}
}

size_t utf8_sequence(const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t length;

	if (bytes[0] == 0)
		return 0;
	if (bytes[0] < 0x80)
		return 1;
	if (bytes[0] < 0xc2 || bytes[0] > 0xf4)
		return 0;
	length = bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
	if (!second_fits(bytes[0], bytes[1]))
		return 0;
	for (size_t i = 2; i < length; i++)
		if (!is_continuation(bytes[i])) /* stops at the NUL, too */
			return 0;
	return length;
}

void buf_add_utf8(struct buf *buf, const char *text)
{
	const char *clean = text; /* start of the well-formed run not yet added */

	while (*text) {
		size_t length = utf8_sequence(text);

		if (length > 0) {
			text += length;
			continue;
		}
		buf_add(buf, clean, (size_t)(text - clean));
		buf_add_text(buf, "\xef\xbf\xbd");
		clean = ++text;
	}
	buf_add(buf, clean, (size_t)(text - clean));
}

static void add_json_byte(struct buf *buf, unsigned char byte)
{
	if (byte == '"' || byte == '\\')
		buf_printf(buf, "\\%c", byte);
	else if (byte < 0x20 || byte == 0x7f)
		buf_printf(buf, "\\u%04x", byte);
	else
		buf_add(buf, &byte, 1);
}

void buf_add_json(struct buf *buf, const char *text)
{
	struct buf clean = {0};

	if (!text) {
		buf_add_text(buf, "null");
		return;
	}
	buf_add_utf8(&clean, text);
	buf_add_text(buf, "\"");
	for (size_t i = 0; i < clean.size; i++)
		add_json_byte(buf, (unsigned char)clean.data[i]);
	buf_add_text(buf, "\"");
	buf->failed |= clean.failed;
	buf_destroy(&clean);
}

/* SPDX-License-Identifier: MIT */
/*
 * gzip.c - the only file that uses zlib; see gzip.h.
 */
#include "dashboard/gzip.h"

#include <errno.h>
#include <limits.h>
#include <zlib.h>

#define GZIP_WINDOW 31 /* 15 bits of window, 16: with gzip's header and trailer */
#define MEMORY	    8  /* zlib's default */

int gzip_deflate(const void *bytes, size_t size, struct buf *out)
{
	z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size};
	int status, err = -ENOMEM;
	char *room;

	if (size > INT_MAX)
		return -ENOMEM;
	if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	stream.avail_out = (uInt)deflateBound(&stream, size);
	room = buf_reserve(out, stream.avail_out);
	if (room) {
		stream.next_out = (Bytef *)room;
		status = deflate(&stream, Z_FINISH);
		err = status == Z_STREAM_END ? 0 : -ENOMEM;
	}
	if (err == 0) {
		out->size += stream.total_out;
		out->data[out->size] = '\0';
	}
	deflateEnd(&stream);
	return err;
}

int gzip_inflate(const void *bytes, size_t size, size_t full, struct buf *out)
{
	z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size};
	char *room = size > INT_MAX || full > INT_MAX ? NULL : buf_reserve(out, full);
	int status;

	if (!room || inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	stream.next_out = (Bytef *)room;
	stream.avail_out = (uInt)full;
	status = inflate(&stream, Z_FINISH);
	inflateEnd(&stream);
	if (status != Z_STREAM_END || stream.total_out != full)
		return -EBADMSG;
	out->size += full;
	out->data[out->size] = '\0';
	return 0;
}

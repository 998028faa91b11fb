/* SPDX-License-Identifier: MIT */
/*
 * gzip.h - the gzip format; the only header that speaks of zlib's work.
 */
#pragma once

#include "dashboard/buf.h"

/* Appends to `out`. Level 1: the page polls once a second, and the client is mostly on this
 * machine. 0 or -ENOMEM. */
int gzip_deflate(const void *bytes, size_t size, struct buf *out);

/* Appends the inflated bytes; `full` is how many they are. 0, -ENOMEM, or -EBADMSG where they are
 * not that many or broken. */
int gzip_inflate(const void *bytes, size_t size, size_t full, struct buf *out);

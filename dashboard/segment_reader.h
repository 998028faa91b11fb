/* SPDX-License-Identifier: MIT */
/*
 * segment_reader.h - a segment file -> a checked copy of what it holds at one moment.
 *
 * Nothing in the file is trusted: whoever owns it may scribble in it, truncate it or never finish
 * it, at any moment. Therefore it is never mapped (a truncated mapping is a SIGBUS) but copied by
 * pread, and every offset, count and size is checked in the copy. What a snapshot takes is bounded
 * by the memory that stands behind the file: empty slots are dropped while they are read.
 *
 * One thread per segment. Functions return 0 or -errno and leave out-parameters untouched on
 * failure.
 */
#pragma once

#include "dashboard/snapshot.h"

#include <sys/types.h>

struct segment;

enum segment_life {
	SEGMENT_LIVE,	   /* a thread of it exists, or a process that has it mapped */
	SEGMENT_DEAD,	   /* nobody has it mapped; or, not knowing that: its threads are gone */
	SEGMENT_UNDECIDED, /* it has no threads yet: whether its process exists must tell */
};

/*
 * Opens `name` in the directory `dirfd`. It must be a regular file (no link) of `owner`.
 * -EAGAIN: not ready yet, try again later; -EBADMSG: not a segment, or one of another version;
 * -EPERM: not a regular file of `owner`.
 */
int segment_open(int dirfd, const char *name, uid_t owner, struct segment **out);
void segment_close(struct segment *segment); /* accepts NULL */

int segment_read_header(const struct segment *segment, struct seg_header *out);

/* Cheap while a thread that was found alive before still is: one small read. */
int segment_probe(struct segment *segment, enum segment_life *out);

/* 1: a process has it mapped; 0: none has, so it will not change any more; -errno: not known. */
int segment_in_use(const struct segment *segment);

/* Reads all into `snapshot`, which must be zeroed at first use and is reused afterwards. After a
 * failure its contents are void, but it may be used again. */
int segment_read(struct segment *segment, struct snapshot *snapshot);

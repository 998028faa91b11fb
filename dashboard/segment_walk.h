/* SPDX-License-Identifier: MIT */
/*
 * segment_walk.h - one pass over the rows and tables of a segment whose header has been checked.
 *
 * Knows nothing of whether the pass is a consistent one: that is segment_reader's. One thread.
 * Functions return 0 or -errno.
 */
#pragma once

#include "dashboard/snapshot.h"

/* Reads `size` bytes, all of them: -EBADMSG where the file ends before. */
int segment_read_at(int fd, void *out, size_t size, uint64_t offset);

/* First word of a row's life, see agent/segment.h. */
uint32_t segment_row_life(const struct seg_thread *row);
bool segment_row_live(const struct seg_thread *row);
uint32_t segment_row_count(const struct seg_header *header);
uint64_t segment_row_offset(const struct seg_header *header, uint32_t row);

/* Fills everything of `snapshot` but its times and memory_bytes; its header is there already. */
int segment_walk(int fd, struct snapshot *snapshot);

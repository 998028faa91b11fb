/* SPDX-License-Identifier: MIT */
/*
 * segment_reader.c - copies a segment by pread and checks the copy.
 *
 * A walk over all rows is void when fold_seq was odd or changed meanwhile; it is tried again a
 * bounded number of times. What never settles (the folding process was killed) is taken as it is
 * and marked torn.
 *
 * Costs: 4 reads for a segment and 2 for each thread.
 */
#include "dashboard/segment_reader.h"
#include "dashboard/clock.h"
#include "dashboard/lease.h"
#include "dashboard/segment_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	WALK_TRIES = 8,
	SETTLE_NS = 30000, /* folding one row takes a few microseconds */
	ROWS_AT_ONCE = 16, /* 14 KiB of stack */
};

struct segment {
	int fd;
	uint32_t live_row; /* a row that was alive at the last probe; 0: none */
};

static int check_header(const struct seg_header *header, uint64_t file_size)
{
	if (header->magic == 0)
		return -EAGAIN;
	if (header->magic != SEG_MAGIC || header->version != SEG_VERSION ||
	    header->header_size != SEG_HEADER_SIZE || header->size != file_size)
		return -EBADMSG;
	for (int i = 0; i < SEG_REGIONS; i++) {
		const struct seg_region *region = &header->regions[i];

		if (region->offset < SEG_HEADER_SIZE || region->offset > file_size ||
		    region->size > file_size - region->offset || region->used > region->size)
			return -EBADMSG;
	}
	return 0;
}

static int read_header(int fd, struct seg_header *out, struct stat *st)
{
	int err;

	if (fstat(fd, st) < 0)
		return -errno;
	if (st->st_size < (off_t)SEG_SIZE_MIN)
		return st->st_size == 0 ? -EAGAIN : -EBADMSG;
	if (st->st_size > (off_t)SEG_SIZE_MAX)
		return -EBADMSG;
	err = segment_read_at(fd, out, sizeof(*out), 0);
	if (err)
		return err;
	return check_header(out, (uint64_t)st->st_size);
}

int segment_read_header(const struct segment *segment, struct seg_header *out)
{
	struct seg_header header;
	struct stat st;
	int err = read_header(segment->fd, &header, &st);

	if (!err)
		*out = header;
	return err;
}

int segment_open(int dirfd, const char *name, uid_t owner, struct segment **out)
{
	struct segment *segment = NULL;
	struct seg_header header;
	struct stat st;
	/* O_NONBLOCK: a FIFO of that name must not stop the server. */
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	if (fd < 0)
		return errno == ELOOP ? -EPERM : -errno;
	err = -EPERM;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != owner)
		goto cleanup;
	err = read_header(fd, &header, &st);
	if (err)
		goto cleanup;
	segment = calloc(1, sizeof(*segment));
	err = segment ? 0 : -ENOMEM;
	if (err)
		goto cleanup;
	segment->fd = fd;
	*out = segment;
	return 0;
cleanup:
	close(fd);
	return err;
}

void segment_close(struct segment *segment)
{
	if (!segment)
		return;
	close(segment->fd);
	free(segment);
}

struct census {
	uint32_t live_row; /* 0: none */
	bool died;	   /* a thread existed and is gone */
	bool starting;	   /* a row is taken, its thread does not hold its life yet */
};

static void census_add(struct census *census, const struct seg_thread *row, uint32_t index)
{
	if (index <= SEG_ROW_ENDED)
		return;
	if (segment_row_live(row))
		census->live_row = index;
	else if (row->state == SEG_THREAD_USED && segment_row_life(row) == 0)
		census->starting = true;
	else if (row->state != SEG_THREAD_FREE)
		census->died = true;
}

static int probe_rows(struct segment *segment, const struct seg_header *header,
		      struct census *census)
{
	struct seg_thread chunk[ROWS_AT_ONCE];
	uint32_t rows = segment_row_count(header);

	for (uint32_t first = 0; first < rows && !census->live_row; first += ROWS_AT_ONCE) {
		uint32_t n = rows - first < ROWS_AT_ONCE ? rows - first : ROWS_AT_ONCE;
		int err = segment_read_at(segment->fd, chunk, n * sizeof(struct seg_thread),
					  segment_row_offset(header, first));

		if (err)
			return err;
		for (uint32_t i = 0; i < n && !census->live_row; i++)
			census_add(census, &chunk[i], first + i);
	}
	return 0;
}

int segment_in_use(const struct segment *segment)
{
	return lease_in_use(segment->fd);
}

/* A process may have forked or lost its threads and not allocated since. */
static enum segment_life life_without_rows(const struct segment *segment,
					   const struct census *census)
{
	int in_use = segment_in_use(segment);

	if (in_use >= 0)
		return in_use ? SEGMENT_LIVE : SEGMENT_DEAD;
	return census->died && !census->starting ? SEGMENT_DEAD : SEGMENT_UNDECIDED;
}

int segment_probe(struct segment *segment, enum segment_life *out)
{
	struct census census = {0};
	struct seg_header header;
	struct seg_thread row;
	struct stat st;
	int err = read_header(segment->fd, &header, &st);

	if (err)
		return err;
	if (segment->live_row != 0 && segment->live_row < segment_row_count(&header) &&
	    segment_read_at(segment->fd, &row, sizeof(row),
			    segment_row_offset(&header, segment->live_row)) == 0 &&
	    segment_row_live(&row)) {
		*out = SEGMENT_LIVE;
		return 0;
	}
	err = probe_rows(segment, &header, &census);
	if (err)
		return err;
	segment->live_row = census.live_row;
	*out = census.live_row ? SEGMENT_LIVE : life_without_rows(segment, &census);
	return 0;
}

static int settled(struct segment *segment, struct snapshot *snapshot)
{
	struct seg_header header;
	struct stat st;
	int err = read_header(segment->fd, &header, &st);

	if (err)
		return err;
	return !(header.fold_seq & 1) && header.fold_seq == snapshot->header.fold_seq;
}

int segment_read(struct segment *segment, struct snapshot *snapshot)
{
	const struct timespec pause = {0, SETTLE_NS};
	struct stat st;
	int err, done = 0;

	for (int try = 1; !done; try++) {
		err = read_header(segment->fd, &snapshot->header, &st);
		if (err)
			return err;
		if ((snapshot->header.fold_seq & 1) && try < WALK_TRIES) {
			nanosleep(&pause, NULL);
			continue;
		}
		snapshot->taken_ns = clock_ns(CLOCK_REALTIME);
		snapshot->taken_mono_ns = clock_ns(CLOCK_MONOTONIC);
		err = segment_walk(segment->fd, snapshot);
		if (err)
			return err;
		done = settled(segment, snapshot);
		if (done < 0)
			return done;
		if (!done && try >= WALK_TRIES) {
			snapshot->torn = true;
			done = 1;
		}
	}
	snapshot->memory_bytes = (uint64_t)st.st_blocks * 512;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * fuzz_segment.c - any bytes as a segment: open, probe, read, change, read, model of both.
 *
 * The input is packed (packed.h). One file is emptied and filled for each input.
 */
#include "dashboard/model_build.h"
#include "dashboard/problems.h"
#include "dashboard/segment_reader.h"
#include "dashboard/site_names.h"
#include "tests/fuzz/packed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int dirfd_of_file = -1, fd = -1;
static char dir[] = "/dev/shm/heaptap-fuzz-XXXXXX";
static const char name[] = "1-1.seg";

static void clean_up(void)
{
	unlinkat(dirfd_of_file, name, 0);
	rmdir(dir);
}

static void make_file(void)
{
	if (!mkdtemp(dir))
		abort();
	dirfd_of_file = open(dir, O_RDONLY | O_DIRECTORY);
	fd = openat(dirfd_of_file, name, O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		abort();
	atexit(clean_up);
}

/* Returns how much of the input it has used. */
static size_t write_pieces(const uint8_t *data, size_t size)
{
	size_t at = 0;

	while (size - at >= sizeof(struct packed_piece)) {
		struct packed_piece piece;
		uint64_t offset;

		memcpy(&piece, data + at, sizeof(piece));
		at += sizeof(piece);
		if (piece.offset == PACKED_AGAIN)
			return at;
		offset = (uint64_t)piece.offset * 8 % PACKED_SIZE;
		if ((uint64_t)piece.size * 8 > size - at)
			return size;
		if (offset + piece.size * 8u <= PACKED_SIZE &&
		    pwrite(fd, data + at, piece.size * 8u, (off_t)offset) < 0)
			abort();
		at += piece.size * 8u;
	}
	return size;
}

static void check(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (snapshot->threads[i].first_slot + (size_t)snapshot->threads[i].slot_count >
		    snapshot->slot_count)
			abort();
}

static void build(const struct snapshot *now, const struct snapshot *base)
{
	struct family_store store = {0};
	struct site_names *names;
	struct symbols *symbols;
	struct problem problem;

	if (model_build(&store, now, base) < 0 || symbols_create(&symbols) < 0 ||
	    site_names_create(&names) < 0)
		abort();
	for (size_t i = 0; i < store.family.site_count; i++)
		if (store.family.sites[i].base.alloc_count >
		    store.family.sites[i].total.alloc_count)
			abort();
	if (store.family.base.alloc_count > store.family.total.alloc_count)
		abort();
	for (size_t i = 0; i < SEG_PROBLEMS; i++)
		problem_describe(&now->header.problems[i], &problem);
	/* Paths of the input must not lead to files of this machine. */
	for (size_t i = 0; i < now->module_count; i++)
		now->modules[i].path[0] = 'x';
	store.family.exe[0] = '\0';
	site_names_fill(names, symbols, now, 0, &store.family);
	site_names_destroy(names);
	symbols_destroy(symbols);
	family_store_free(&store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot base = {0}, now = {0};
	struct segment *segment;
	enum segment_life life;
	size_t used;

	if (fd < 0)
		make_file();
	if (ftruncate(fd, 0) < 0 || ftruncate(fd, PACKED_SIZE) < 0)
		abort();
	used = write_pieces(data, size);
	if (segment_open(dirfd_of_file, name, geteuid(), &segment) < 0)
		return 0;
	segment_probe(segment, &life);
	if (segment_read(segment, &base) == 0) {
		check(&base);
		build(&base, NULL);
		snapshot_trim(&base);
		write_pieces(data + used, size - used);
		if (segment_read(segment, &now) == 0) {
			check(&now);
			build(&now, &base);
		}
		segment_probe(segment, &life);
	}
	segment_close(segment);
	snapshot_free(&base);
	snapshot_free(&now);
	return 0;
}

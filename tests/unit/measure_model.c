/* SPDX-License-Identifier: MIT */
/*
 * measure_model.c - what reading a segment and building its model costs.
 *
 *	measure_model [THREADS [SITES [SITES_PER_THREAD]]]	default 1000 10000 100
 *
 * Prints the best and the median of 50 rounds of each step.
 */
#include "dashboard/model_build.h"
#include "dashboard/segment_reader.h"
#include "tests/unit/segment_builder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 50 };

static uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void print(const char *what, uint64_t *rounds)
{
	qsort(rounds, ROUNDS, sizeof(*rounds), compare);
	printf("%-16s best %7.3f ms   median %7.3f ms   worst %7.3f ms\n", what,
	       (double)rounds[0] / 1e6, (double)rounds[ROUNDS / 2] / 1e6,
	       (double)rounds[ROUNDS - 1] / 1e6);
}

static void fill(struct builder *b, unsigned threads, unsigned sites, unsigned per_thread)
{
	uint32_t process = builder_process(b, (int32_t)getpid());

	for (unsigned i = 0; i < threads; i++) {
		uint32_t row = builder_thread(b, process, (int32_t)(1000 + i));

		for (unsigned j = 0; j < per_thread; j++) {
			uint64_t at = 0x400000 + (i * per_thread + j) % sites * 64;

			builder_site(b, row, j % 3 ? SEG_KIND_MALLOC : SEG_KIND_FREE, at, i + j + 1,
				     100, 112);
		}
	}
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
	unsigned sites = argc > 2 ? (unsigned)atoi(argv[2]) : 10000;
	unsigned per_thread = argc > 3 ? (unsigned)atoi(argv[3]) : 100;
	uint64_t reads[ROUNDS], builds[ROUNDS];
	char *dir = builder_dir_create();
	struct builder *b = builder_create(dir, (int32_t)getpid(), 64u << 20);
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	struct snapshot base = {0}, now = {0};
	struct family_store store = {0};
	struct segment *segment;

	fill(b, threads, sites, per_thread);
	builder_publish(b);
	if (segment_open(dirfd, b->name, geteuid(), &segment) || segment_read(segment, &base))
		return 1;
	snapshot_trim(&base);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = clock_now();

		if (segment_read(segment, &now))
			return 1;
		reads[i] = clock_now() - start;
		start = clock_now();
		if (model_build(&store, &now, &base))
			return 1;
		builds[i] = clock_now() - start;
	}
	printf("%zu threads, %zu sites, %zu cells\n", store.family.thread_count,
	       store.family.site_count, store.family.cell_count);
	print("segment_read", reads);
	print("model_build", builds);
	printf("base snapshot %zu KiB, snapshot %zu KiB, model %zu KiB\n",
	       (base.slot_room * sizeof(struct seg_slot) +
		base.thread_room * sizeof(struct snapshot_thread)) >>
		       10,
	       (now.slot_room * sizeof(struct seg_slot) +
		now.thread_room * sizeof(struct snapshot_thread) +
		now.sizes_room * sizeof(*now.sizes)) >>
		       10,
	       (store.site_room * sizeof(struct site) + store.cell_room * sizeof(struct cell) +
		store.thread_room * sizeof(struct thread)) >>
		       10);
	segment_close(segment);
	snapshot_free(&base);
	snapshot_free(&now);
	family_store_free(&store);
	builder_destroy(b);
	close(dirfd);
	builder_dir_remove(dir);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * measure_routes.c - how long answers take with 10,000 sites and 1,000 threads, without HTTP.
 */
#include "dashboard/content.h"
#include "dashboard/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SITES	10000u
#define THREADS 1000u
#define ROUNDS	200u

static struct site sites[SITES];
static struct thread threads[THREADS];
static struct cell cells[THREADS * 10];
static struct process process = {.pid = 1, .live_threads = THREADS};

static void fill(void)
{
	static char names[SITES][64];

	for (unsigned i = 0; i < SITES; i++) {
		snprintf(names[i], sizeof names[i], "service::module_%u::function_%u(int, char)",
			 i % 97, i);
		sites[i] = (struct site){.address = 0x400000 + i * 16,
					 .kind = SEG_KIND_MALLOC,
					 .total = {.alloc_count = i * 7919 % 100003,
						   .alloc_bytes = i * 7919 % 100003 * 64},
					 .function = names[i],
					 .module = "/usr/bin/service",
					 .build_id = "00112233445566778899aabbccddeeff00112233"};
	}
	for (unsigned i = 0; i < THREADS; i++) {
		threads[i] = (struct thread){.tid = (int32_t)i + 1,
					     .pid = 1,
					     .name = "worker",
					     .total = {.alloc_count = i * 31 % 1009},
					     .first_cell = i * 10ull,
					     .cell_count = 10};
		for (unsigned c = 0; c < 10; c++)
			cells[i * 10 + c] = (struct cell){.site = (i * 10 + c) % SITES,
							  .total = {.alloc_count = c}};
	}
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void measure(const struct model *model, const char *target)
{
	double times[ROUNDS];
	size_t size = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct request request = {.accepts_gzip = true};
		struct response response = {0};
		double begin = now_ms();
		char why[256];

		request_parse(&request, "GET", target, why, sizeof why);
		routes_respond(&request, model, &response);
		content_compress(&request, &response);
		times[i] = now_ms() - begin;
		size = response.body.size;
		response_destroy(&response);
	}
	qsort(times, ROUNDS, sizeof times[0], compare);
	printf("%-50s median %7.2f ms  p99 %7.2f ms  %8zu bytes gzipped\n", target,
	       times[ROUNDS / 2], times[ROUNDS * 99 / 100], size);
}

int main(void)
{
	struct family family = {.id = "1-1",
				.pid = 1,
				.window_ns = 1000000000,
				.processes = &process,
				.process_count = 1,
				.threads = threads,
				.thread_count = THREADS,
				.sites = sites,
				.site_count = SITES,
				.cells = cells,
				.cell_count = THREADS * 10};
	struct model model = {.now_ns = 1, .families = &family, .family_count = 1};

	fill();
	measure(&model, "/api/v1/summary");
	measure(&model, "/api/v1/processes");
	measure(&model, "/api/v1/threads");
	measure(&model, "/api/v1/threads?limit=10000");
	measure(&model, "/api/v1/threads/500");
	measure(&model, "/api/v1/sites");
	measure(&model, "/api/v1/sites?filter=function_77");
	measure(&model, "/api/v1/sites?limit=10000");
	return 0;
}

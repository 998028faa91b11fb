/* SPDX-License-Identifier: MIT */
/*
 * model_fixture.c - see model_fixture.h. The window is 2 s, so that rates are half the difference.
 */
#include "tests/unit/model_fixture.h"

#define SECOND 1000000000ull
#define START  1700000000000000000ull

/* Allocations with a mean of 100 bytes, usable 112, `base` of them before the window. */
#define ALLOCS(n)                                                                                  \
	{                                                                                          \
		.alloc_count = (n), .alloc_bytes = (n)*100, .usable_bytes = (n)*112                \
	}
#define FREES(n)                                                                                   \
	{                                                                                          \
		.free_count = (n), .free_bytes = (n)*112                                           \
	}

static struct site sites[] = {
	{.address = 0x401000,
	 .kind = SEG_KIND_MALLOC,
	 .total = {.alloc_count = FIXTURE_BIG, .alloc_bytes = FIXTURE_BIG, .usable_bytes = 20},
	 .base = {.alloc_count = FIXTURE_BIG - 100},
	 .function = "alpha",
	 .function_offset = 0x12,
	 .module = "/usr/bin/server",
	 .build_id = "c0ffee",
	 .module_offset = 0x1000},
	{.address = 0x402000,
	 .kind = SEG_KIND_NEW,
	 .total = ALLOCS(1000),
	 .base = ALLOCS(400),
	 .function = "std::vector<int>::grow(\"x\\y\")",
	 .function_offset = 0x1f,
	 .module = "/usr/lib/libb\xe9.so",
	 .module_offset = 0x2000},
	{.address = 0x403000,
	 .kind = SEG_KIND_FREE,
	 .total = FREES(700),
	 .base = FREES(600),
	 .module = "/usr/lib/libc.so.6",
	 .build_id = "00ff",
	 .module_offset = 0x3000},
	{.address = 0,
	 .kind = SEG_KIND_REALLOC,
	 .total = {.alloc_count = 50,
		   .alloc_bytes = 5000,
		   .usable_bytes = 5600,
		   .free_count = 50,
		   .free_bytes = 2800,
		   .realloc_count = 50,
		   .realloc_moved = 20,
		   .realloc_grown = 40,
		   .realloc_copied_bytes = 1000},
	 .base = {.alloc_count = 50, .alloc_bytes = 5000, .realloc_count = 30}},
	{.address = 0x7fffffffffff,
	 .kind = SEG_KIND_MALLOC,
	 .total = ALLOCS(50),
	 .base = ALLOCS(50)},
	{.address = 0x405000,
	 .kind = SEG_KIND_DELETE,
	 .total = FREES(10),
	 .function = "alpha",
	 .module = "/usr/bin/server"},
};

static struct cell cells[] = {
	{.site = 1, .total = ALLOCS(900), .base = ALLOCS(400)}, /* main */
	{.site = 2, .total = FREES(100), .base = FREES(100)},
	{.site = 2, .total = FREES(600), .base = FREES(500)}, /* worker */
	{.site = 1, .total = ALLOCS(100), .base = {0}},	      /* child */
	{.site = 4, .total = ALLOCS(50), .base = ALLOCS(50)},
};

static struct thread threads[] = {
	{.role = THREAD_ONE,
	 .tid = 100,
	 .pid = 100,
	 .name = "main",
	 .serial = 1,
	 .total = ALLOCS(900),
	 .base = ALLOCS(400),
	 .sizes = {[6] = 900},
	 .first_cell = 0,
	 .cell_count = 2},
	{.role = THREAD_ONE,
	 .tid = 102,
	 .pid = 100,
	 .name = "w\xffrker",
	 .serial = 2,
	 .total = FREES(600),
	 .base = FREES(500),
	 .first_cell = 2,
	 .cell_count = 1},
	{.role = THREAD_ONE,
	 .tid = 101,
	 .pid = 101,
	 .ended = true,
	 .name = "child",
	 .serial = 3,
	 .total = ALLOCS(150),
	 .base = ALLOCS(50),
	 .first_cell = 3,
	 .cell_count = 2},
	{.role = THREAD_ENDED, .pid = 100, .ended = true, .total = ALLOCS(7), .base = ALLOCS(7)},
	{.role = THREAD_SHARED, .total = ALLOCS(7), .base = ALLOCS(7)},
};

static struct process processes[] = {
	{.pid = 100,
	 .name = "server",
	 .started_ns = START,
	 .threads_started = 9,
	 .live_threads = 2,
	 .total = ALLOCS(907),
	 .base = ALLOCS(407),
	 .rss_bytes = 4096},
	{.pid = 101,
	 .ended = true,
	 .name = "\"quoted\"\n",
	 .started_ns = START + SECOND,
	 .threads_started = 1,
	 .total = ALLOCS(150),
	 .base = ALLOCS(50)},
};

static struct problem problems[] = {
	{.code = "setting", .message = "HEAPTAP_MEMORY=\xc0\xaf: bad value"},
};

static struct family families[] = {
	{.id = "100-a",
	 .pid = 100,
	 .name = "server",
	 .exe = "/usr/bin/server",
	 .cmdline = "server \x01 --name \xf0\x9f\x92\xa5 \xed\xa0\x80",
	 .listen = "127.0.0.1:9000",
	 .started_ns = START,
	 .window_ns = 2 * SECOND,
	 .total = {.alloc_count = UINT64_MAX,
		   .alloc_bytes = FIXTURE_BIG,
		   .usable_bytes = 1000,
		   .free_count = 760,
		   .free_bytes = 3000,
		   .realloc_count = 50,
		   .realloc_moved = 20,
		   .realloc_grown = 40,
		   .realloc_copied_bytes = 1000},
	 .base = {.alloc_count = UINT64_MAX - 200, .alloc_bytes = FIXTURE_BIG - 1000},
	 .sizes = {[0] = 1, [6] = FIXTURE_BIG, [47] = 2},
	 .processes = processes,
	 .process_count = 2,
	 .live_processes = 1,
	 .threads = threads,
	 .thread_count = 5,
	 .live_threads = 2,
	 .sites = sites,
	 .site_count = 6,
	 .cells = cells,
	 .cell_count = 5,
	 .threads_started = 10,
	 .processes_started = 2,
	 .dropped = {[SEG_DROP_SITES] = 3, [SEG_DROP_RECOVERED] = 1},
	 .rss_bytes = 4096,
	 .segment_bytes = 8 << 20,
	 .segment_used_bytes = 65536,
	 .torn_reads = 1,
	 .problems = problems,
	 .problem_count = 1},
	{.id = "200-b", .pid = 200, .ended = true, .name = "gone", .started_ns = START},
};

const struct model fixture_model = {
	.now_ns = START + 10 * SECOND,
	.families = families,
	.family_count = 2,
};

const struct model fixture_empty = {.now_ns = START};

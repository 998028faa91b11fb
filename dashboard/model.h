/* SPDX-License-Identifier: MIT */
/*
 * model.h - what is known of all families at one moment; everything that the server says is a
 * function of it.
 *
 * Plain data, owned by whoever built it (families.c), never changed afterwards. Encoders and
 * routes only read it. One thread.
 *
 * Times are ns of CLOCK_REALTIME, sizes are bytes. Counts are totals since the family's start.
 * Where a `base` stands beside a `total`, base is the same count at the begin of the rate window,
 * so that a rate is (total - base) / window_ns * 1e9; base <= total always. window_ns 0: the
 * family has not been watched long enough for a rate.
 */
#pragma once

#include "agent/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counts {
	uint64_t alloc_count;
	uint64_t alloc_bytes;  /* requested */
	uint64_t usable_bytes; /* given by the allocator */
	uint64_t free_count;
	uint64_t free_bytes; /* usable bytes given back */
	uint64_t realloc_count;
	uint64_t realloc_moved;
	uint64_t realloc_grown;
	uint64_t realloc_copied_bytes; /* at most */
};

/* One call instruction. Sites with kind REALLOC_FREE and REALLOC_GROWN are part of the REALLOC
 * one with the same address: the model has one site per address and kind, in the kinds MALLOC,
 * CALLOC, ALIGNED, NEW, NEW_ARRAY, REALLOC, FREE, DELETE, DELETE_ARRAY (REALLOC_NULL counts as
 * REALLOC too). address 0: all calls of that kind whose site is not known. */
struct site {
	uint64_t address; /* return address in the process */
	uint8_t kind;	  /* enum seg_kind */
	struct counts total;
	struct counts base;
	const char *function;	  /* demangled; NULL where nothing is known. Owned by `symbols` */
	uint64_t function_offset; /* of address - 1 from the function's start */
	const char *module;	  /* path; NULL where nothing is known */
	const char *build_id;	  /* lower-case hex; NULL where there is none */
	uint64_t module_offset;	  /* address - 1 in the file's own addresses (st_value) */
};

enum thread_role {
	THREAD_ONE,   /* one thread, alive or not */
	THREAD_ENDED, /* all ended threads of one process (pid) or of ended processes (pid 0) */
	THREAD_SHARED /* threads that found no row of their own */
};

struct thread {
	enum thread_role role;
	int32_t tid; /* 0 for the sums */
	int32_t pid;
	bool ended;
	char name[32]; /* comm; "" where unknown. Any bytes */
	uint64_t serial;
	struct counts total;
	struct counts base;
	uint64_t sizes[SEG_SIZE_CLASSES];
	size_t first_cell; /* its part of family.cells */
	size_t cell_count;
};

struct cell {	       /* one thread's share of one site */
	uint32_t site; /* index into family.sites */
	struct counts total;
	struct counts base;
};

struct process {
	int32_t pid;
	bool ended;
	char name[32]; /* comm; any bytes */
	uint64_t started_ns;
	uint64_t threads_started;
	size_t live_threads; /* those that have allocated */
	struct counts total;
	struct counts base;
	uint64_t rss_bytes; /* 0 where unknown or ended */
};

struct problem {
	const char *code;  /* one word, stable: "setting", "listen", "server", ... */
	char message[256]; /* a sentence: what is wrong, what was done instead. Any bytes */
};

struct family {
	char id[48]; /* "<pid>-<start>", as the segment's file */
	int32_t pid; /* of its first process */
	uint32_t uid;
	bool ended;    /* no process of it is left */
	char name[64]; /* last part of the name it was started by, else of exe */
	char exe[512];
	char cmdline[512];
	char listen[128];     /* address of its own that it asked for; "" for the default */
	char token_file[256]; /* HEAPTAP_TOKEN_FILE; "" for the default */
	uint64_t started_ns;
	uint64_t window_ns;
	struct counts total;
	struct counts base;
	uint64_t sizes[SEG_SIZE_CLASSES];
	struct process *processes; /* live ones first, then by pid */
	size_t process_count;
	size_t live_processes;
	struct thread *threads; /* in no particular order */
	size_t thread_count;
	size_t live_threads;
	struct site *sites; /* in no particular order */
	size_t site_count;
	struct cell *cells; /* grouped by thread */
	size_t cell_count;
	uint64_t threads_started;
	uint64_t processes_started;
	uint64_t dropped[SEG_DROPS]; /* by enum seg_drop */
	uint64_t rss_bytes;	     /* sum over its live processes */
	uint64_t segment_bytes;	     /* address space; memory in use is segment_used_bytes */
	uint64_t segment_used_bytes;
	uint64_t torn_reads; /* how often the segment changed too fast to be read whole */
	struct problem *problems;
	size_t problem_count;
};

struct model {
	uint64_t now_ns;
	struct family *families; /* living ones first, then by allocations per second, descending */
	size_t family_count;
};

/* rate of (total - base) per second; 0 where the window is 0 */
double model_rate(uint64_t total, uint64_t base, uint64_t window_ns);

/* The family that `pid` is (or belongs to as a process); NULL where there is none. A living one
 * comes before an ended one of the same pid. */
const struct family *model_find(const struct model *model, int32_t pid);

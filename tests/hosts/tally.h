/* SPDX-License-Identifier: MIT */
/*
 * tally.h - what a test host did with the heap, counted by the host itself.
 *
 * The counting rules are those of the HTTP API (design, section 4). One tally per thread, in an
 * anonymous shared mapping, so that forked children report through the same table. Nothing here
 * allocates: what the host says must not change what it did. C and C++.
 */
#pragma once

#include <inttypes.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum tally_kind {
	TALLY_MALLOC,
	TALLY_CALLOC,
	TALLY_ALIGNED,
	TALLY_NEW,
	TALLY_NEW_ARRAY,
	TALLY_REALLOC,
	TALLY_FREE,
	TALLY_DELETE,
	TALLY_DELETE_ARRAY,
	TALLY_KINDS
};

static const char *const tally_kind_names[TALLY_KINDS] = {
	"malloc", "calloc", "aligned", "new", "new[]", "realloc", "free", "delete", "delete[]"};

enum { TALLY_SIZES = 48, TALLY_MAX = 256 };

struct tally_counts {
	uint64_t alloc_count, alloc_bytes, usable_bytes;
	uint64_t free_count, free_bytes;
	uint64_t realloc_count, realloc_moved, realloc_grown, realloc_copied_bytes;
};

struct tally {
	int pid, tid;
	bool main_thread; /* of the first process: libc allocates there too */
	struct tally_counts kinds[TALLY_KINDS];
	uint64_t sizes[TALLY_SIZES];
};

struct tally_table {
	unsigned used;
	struct tally rows[TALLY_MAX];
};

static struct tally_table *tally_table;
static __thread struct tally *tally_mine;

static inline void tally_create(void)
{
	tally_table = (struct tally_table *)mmap(NULL, sizeof(*tally_table), PROT_READ | PROT_WRITE,
						 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tally_table == MAP_FAILED)
		_exit(97);
}

/* To be called first in every thread, and again in a forked child. */
static inline void tally_join(bool main_thread)
{
	unsigned index = __atomic_fetch_add(&tally_table->used, 1, __ATOMIC_RELAXED);

	if (index >= TALLY_MAX)
		_exit(98);
	tally_mine = &tally_table->rows[index];
	tally_mine->pid = getpid();
	tally_mine->tid = (int)syscall(SYS_gettid);
	tally_mine->main_thread = main_thread;
}

static inline void tally_alloc(enum tally_kind kind, void *block, size_t size)
{
	struct tally_counts *counts = &tally_mine->kinds[kind];
	unsigned size_class = 0;

	if (!block)
		return;
	counts->alloc_count++;
	counts->alloc_bytes += size;
	counts->usable_bytes += malloc_usable_size(block);
	for (size_t rest = size; rest > 1; rest >>= 1)
		size_class++;
	tally_mine->sizes[size_class]++;
}

/* Before the call: afterwards the block is nobody's. */
static inline void tally_free(enum tally_kind kind, void *block)
{
	if (!block)
		return;
	tally_mine->kinds[kind].free_count++;
	tally_mine->kinds[kind].free_bytes += malloc_usable_size(block);
}

/* `old_usable` was measured before the call; `old` only serves to tell whether the block moved. */
static inline void tally_realloc(uintptr_t old, size_t old_usable, void *block, size_t size)
{
	struct tally_counts *counts = &tally_mine->kinds[TALLY_REALLOC];

	if (!old) {
		tally_alloc(TALLY_REALLOC, block, size);
		return;
	}
	if (!block && size)
		return;
	counts->free_count++;
	counts->free_bytes += old_usable;
	if (!block)
		return;
	tally_alloc(TALLY_REALLOC, block, size);
	counts->realloc_count++;
	if (malloc_usable_size(block) > old_usable)
		counts->realloc_grown++;
	if ((uintptr_t)block != old) {
		counts->realloc_moved++;
		counts->realloc_copied_bytes += size < old_usable ? size : old_usable;
	}
}

static inline size_t tally_print_counts(char *out, size_t room, const char *name,
					const struct tally_counts *c)
{
	return (size_t)snprintf(
		out, room,
		"\"%s\":{\"alloc_count\":%" PRIu64 ",\"alloc_bytes\":%" PRIu64
		",\"usable_bytes\":%" PRIu64 ",\"free_count\":%" PRIu64 ",\"free_bytes\":%" PRIu64
		",\"realloc_count\":%" PRIu64 ",\"realloc_moved\":%" PRIu64
		",\"realloc_grown\":%" PRIu64 ",\"realloc_copied_bytes\":%" PRIu64 "}",
		name, c->alloc_count, c->alloc_bytes, c->usable_bytes, c->free_count, c->free_bytes,
		c->realloc_count, c->realloc_moved, c->realloc_grown, c->realloc_copied_bytes);
}

static inline size_t tally_print_row(char *out, size_t room, const struct tally *row)
{
	size_t used = (size_t)snprintf(out, room, "{\"pid\":%d,\"tid\":%d,\"main\":%s,\"kinds\":{",
				       row->pid, row->tid, row->main_thread ? "true" : "false");

	for (unsigned kind = 0; kind < TALLY_KINDS; kind++) {
		if (kind)
			out[used++] = ',';
		used += tally_print_counts(out + used, room - used, tally_kind_names[kind],
					   &row->kinds[kind]);
	}
	used += (size_t)snprintf(out + used, room - used, "},\"sizes\":[");
	for (unsigned i = 0; i < TALLY_SIZES; i++)
		used += (size_t)snprintf(out + used, room - used, "%s%" PRIu64, i ? "," : "",
					 row->sizes[i]);
	return used + (size_t)snprintf(out + used, room - used, "]}");
}

/* Writes one line of JSON to stdout: {"pid":N,"threads":[...]}. */
static inline void tally_print(void)
{
	static char out[TALLY_MAX * 4096];
	size_t used = (size_t)snprintf(out, sizeof(out), "{\"pid\":%d,\"threads\":[", getpid());
	size_t done = 0;

	for (unsigned i = 0; i < tally_table->used; i++) {
		if (i)
			out[used++] = ',';
		used += tally_print_row(out + used, sizeof(out) - used, &tally_table->rows[i]);
	}
	used += (size_t)snprintf(out + used, sizeof(out) - used, "]}\n");
	while (done < used) {
		ssize_t written = write(1, out + done, used - done);

		if (written <= 0)
			_exit(99);
		done += (size_t)written;
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * count_preload.c - an independent count of a process's heap calls, to hold heaptap's against.
 *
 * Preloaded behind heaptap (LD_PRELOAD=libheaptap.so:libcount.so) it sees the same calls, from the
 * first one on. Its own way of counting: one set of atomics for everything, in a file mapped
 * shared, "$COUNT_DIR/<pid>.<n>" of nine native 64-bit integers in the order of `enum count_id`.
 * Forked children add to their parent's file, an exec'd image makes one of its own. Nothing is
 * written at exit: what is called after all destructors is in the file like everything else.
 *
 * Before libc has set `environ` (the loader already calls malloc) the counts are kept here.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum count_id {
	ALLOC_COUNT,
	ALLOC_BYTES,
	USABLE_BYTES,
	FREE_COUNT,
	FREE_BYTES,
	REALLOC_COUNT,
	REALLOC_MOVED,
	REALLOC_GROWN,
	REALLOC_COPIED_BYTES,
	COUNT_IDS
};

static _Atomic uint64_t early[COUNT_IDS];
static _Atomic uint64_t *_Atomic counts = early;

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static int (*next_posix_memalign)(void **, size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static void *(*next_memalign)(size_t, size_t);
static void *(*next_valloc)(size_t);
static void *(*next_pvalloc)(size_t);

/* A successful dlsym does not allocate in glibc 2.36, the one this is tested on; but it frees the
 * message of an earlier one that failed: see free(). */
static void *find_next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		_exit(120);
	return found;
}

#define NEXT(name)                                                                                 \
	do {                                                                                       \
		if (!next_##name)                                                                  \
			next_##name = (__typeof__(next_##name))find_next(#name);                   \
	} while (0)

static void add(enum count_id id, uint64_t value)
{
	atomic_fetch_add_explicit(&counts[id], value, memory_order_relaxed);
}

static int open_file(const char *dir)
{
	for (unsigned n = 0; n < 100; n++) {
		char path[512];
		int fd;

		snprintf(path, sizeof(path), "%s/%d.%u", dir, getpid(), n);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

/* Runs before other threads exist: constructors of preloaded objects come first. */
__attribute__((constructor)) static void move_to_file(void)
{
	const char *dir = getenv("COUNT_DIR");
	_Atomic uint64_t *shared;
	int fd;

	if (!dir)
		return;
	fd = open_file(dir);
	if (fd < 0 || ftruncate(fd, sizeof(early)))
		_exit(121);
	shared = mmap(NULL, sizeof(early), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		_exit(122);
	close(fd);
	memcpy((void *)shared, (void *)early, sizeof(early));
	counts = shared;
}

static void count_alloc(void *block, size_t size)
{
	if (!block)
		return;
	add(ALLOC_COUNT, 1);
	add(ALLOC_BYTES, size);
	add(USABLE_BYTES, malloc_usable_size(block));
}

static void count_free(size_t usable)
{
	add(FREE_COUNT, 1);
	add(FREE_BYTES, usable);
}

void *malloc(size_t size)
{
	void *block;

	NEXT(malloc);
	block = next_malloc(size);
	count_alloc(block, size);
	return block;
}

void *calloc(size_t count, size_t size)
{
	void *block;

	NEXT(calloc);
	block = next_calloc(count, size);
	count_alloc(block, count * size);
	return block;
}

static void count_realloc(uintptr_t old, size_t old_usable, void *block, size_t size)
{
	count_free(old_usable);
	if (!block)
		return;
	count_alloc(block, size);
	add(REALLOC_COUNT, 1);
	if (malloc_usable_size(block) > old_usable)
		add(REALLOC_GROWN, 1);
	if ((uintptr_t)block == old)
		return;
	add(REALLOC_MOVED, 1);
	add(REALLOC_COPIED_BYTES, size < old_usable ? size : old_usable);
}

void *realloc(void *old, size_t size)
{
	volatile uintptr_t old_address = (uintptr_t)old;
	size_t old_usable = old ? malloc_usable_size(old) : 0;
	void *block;

	NEXT(realloc);
	block = next_realloc(old, size);
	if (!old_address)
		count_alloc(block, size);
	else if (block || !size)
		count_realloc(old_address, old_usable, block, size);
	return block;
}

void *reallocarray(void *old, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, total);
}

/* Called by the very dlsym that looks for the next free, it counts the block and lets it go. */
void free(void *block)
{
	static _Thread_local bool looking;
	int kept = errno;

	if (block)
		count_free(malloc_usable_size(block));
	if (looking)
		return;
	looking = true;
	NEXT(free);
	looking = false;
	next_free(block);
	errno = kept;
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	int error;

	NEXT(posix_memalign);
	error = next_posix_memalign(out, alignment, size);
	if (!error)
		count_alloc(*out, size);
	return error;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	void *block;

	NEXT(aligned_alloc);
	block = next_aligned_alloc(alignment, size);
	count_alloc(block, size);
	return block;
}

void *memalign(size_t alignment, size_t size)
{
	void *block;

	NEXT(memalign);
	block = next_memalign(alignment, size);
	count_alloc(block, size);
	return block;
}

void *valloc(size_t size)
{
	void *block;

	NEXT(valloc);
	block = next_valloc(size);
	count_alloc(block, size);
	return block;
}

void *pvalloc(size_t size)
{
	void *block;

	NEXT(pvalloc);
	block = next_pvalloc(size);
	count_alloc(block, size);
	return block;
}

/* SPDX-License-Identifier: MIT */
/*
 * next.h - the allocator behind ours: glibc, jemalloc, tcmalloc, mimalloc or another preload.
 *
 * The pointers start at functions that resolve all of them and go on, so a hook calls through
 * them without asking whether they are ready. Any thread, also before any constructor has run.
 */
#pragma once

#include <stddef.h>

/* return type, name, parameters, arguments */
#define NEXT_FUNCTIONS(X)                                                                          \
	X(void *, malloc, (size_t size), (size))                                                   \
	X(void *, calloc, (size_t count, size_t size), (count, size))                              \
	X(void *, realloc, (void *block, size_t size), (block, size))                              \
	X(int, posix_memalign, (void **out, size_t alignment, size_t size),                        \
	  (out, alignment, size))                                                                  \
	X(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))               \
	X(void *, memalign, (size_t alignment, size_t size), (alignment, size))                    \
	X(void *, valloc, (size_t size), (size))                                                   \
	X(void *, pvalloc, (size_t size), (size))                                                  \
	X(size_t, malloc_usable_size, (void *block), (block))

struct next {
#define NEXT_FIELD(type, name, parameters, arguments) type(*name) parameters;
	NEXT_FUNCTIONS(NEXT_FIELD)
#undef NEXT_FIELD
	void (*free)(void *block);
};

extern struct next next;

/* Resolves all pointers now. Idempotent. */
void next_resolve(void);

/* The object whose malloc is in force where it is not ours (an allocator that was linked into the
 * executable or preloaded before us); NULL where it is ours. */
const char *next_usurper(void);

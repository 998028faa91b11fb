/* SPDX-License-Identifier: MIT */
/*
 * next.h - the allocator behind ours: glibc, jemalloc, tcmalloc, mimalloc or another preload.
 *
 * The pointers start at functions that resolve all of them and go on, so a hook calls through
 * them without asking whether they are ready. Any thread, also before any constructor has run.
 */
#pragma once

#include "agent/base.h"

#include <stdbool.h>
#include <stddef.h>

/* return type, name, parameters, arguments */
#define NEXT_FUNCTIONS(X)                                                                          \
	X(void *, malloc, (size_t size), (size))                                                   \
	X(void *, calloc, (size_t count, size_t size), (count, size))                              \
	X(void *, realloc, (void *block, size_t size), (block, size))                              \
	X(void *, reallocarray, (void *block, size_t count, size_t size), (block, count, size))    \
	X(int, posix_memalign, (void **out, size_t alignment, size_t size),                        \
	  (out, alignment, size))                                                                  \
	X(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))               \
	X(void *, memalign, (size_t alignment, size_t size), (alignment, size))                    \
	X(void *, valloc, (size_t size), (size))                                                   \
	X(void *, pvalloc, (size_t size), (size))                                                  \
	X(size_t, malloc_usable_size, (void *block), (block))

/* One variable each, not a struct: the hooks then call through memory without an address in a
 * register. */
#define NEXT_DECLARE(type, name, parameters, arguments)                                            \
	extern HT_HIDDEN type(*next_##name) parameters;
NEXT_FUNCTIONS(NEXT_DECLARE)
#undef NEXT_DECLARE
extern HT_HIDDEN void (*next_free)(void *block);

/* True where the next allocator is glibc's and blocks carry its usual header; see next_usable(). */
extern HT_HIDDEN bool next_has_glibc_header;

/*
 * What malloc_usable_size says of a block. glibc's also reads the header of the neighbour, which is
 * a cache miss on top of a call; the block's own header tells as much: size of the chunk, with
 * three flags in the low bits, of which bit 1 stands for a block in a mapping of its own, whose
 * header is twice as large (malloc/malloc.c of glibc, "malloc_chunk details"). next_resolve()
 * compares the two on blocks of all kinds before it relies on the header.
 */
HT_INLINE size_t next_usable(void *block)
{
	size_t header;

	if (HT_UNLIKELY(!next_has_glibc_header))
		return next_malloc_usable_size(block);
	__asm__("" : "+r"(block)); /* the compiler knows that nothing of ours lies before a block */
	header = ((const size_t *)block)[-1];
	if (HT_UNLIKELY(header & 2))
		return next_malloc_usable_size(block);
	return (header & ~(size_t)7) - sizeof(size_t);
}

/* False until all pointers are resolved: what is allocated meanwhile is no doing of the host. */
extern HT_HIDDEN bool next_ready;

/* Resolves all pointers now. Idempotent. */
void next_resolve(void);

/*
 * The object whose malloc is in force where it is not ours; NULL where it is ours. Either it is an
 * allocator that was linked into the executable or preloaded before us, and we are hardly called at
 * all; or it is another tool, which calls us as its next allocator. The few functions of ours that
 * are bound all the same must then do what they would do without us: call malloc by its name.
 */
extern HT_HIDDEN const char *next_usurper;

/* The object that a call of `name` goes to; NULL where it comes to us. Start-up only. */
const char *next_bound_elsewhere(const char *name);

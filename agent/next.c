/* SPDX-License-Identifier: MIT */
/*
 * next.c - finds the allocator behind ours.
 *
 * malloc and its family always exist in libc, so dlsym(RTLD_NEXT) cannot fail for them. On glibc
 * 2.34 and later it does not allocate either; where a dlsym does (an older libc, another preload
 * that wraps it), that call arrives here again and is served from a small static arena. Only then
 * are free and realloc made to recognise arena blocks: a process that never needed the arena pays
 * nothing for it.
 */
#include "agent/next.h"
#include "agent/base.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_SIZE  16384u
#define ARENA_ALIGN 16u

static _Alignas(ARENA_ALIGN) char arena[ARENA_SIZE];
static size_t arena_used;
static HT_TLS bool resolving;
static struct next found; /* complete before it is copied to `next` */

static bool arena_has(const void *block)
{
	return (uintptr_t)block - (uintptr_t)arena < ARENA_SIZE;
}

/* Zeroed, never reused. Each block is preceded by its size. */
static void *arena_take(size_t size)
{
	size_t need, at;

	if (__builtin_add_overflow(size, 2 * ARENA_ALIGN - 1, &need))
		return NULL;
	need &= ~(size_t)(ARENA_ALIGN - 1);
	at = __atomic_fetch_add(&arena_used, need, __ATOMIC_RELAXED);
	if (at > ARENA_SIZE || need > ARENA_SIZE - at)
		return NULL;
	memcpy(arena + at, &size, sizeof(size));
	return arena + at + ARENA_ALIGN;
}

static size_t arena_size(const void *block)
{
	size_t size;

	memcpy(&size, (const char *)block - ARENA_ALIGN, sizeof(size));
	return size;
}

static void arena_free(void *block)
{
	if (!arena_has(block))
		found.free(block);
}

static void *arena_realloc(void *block, size_t size)
{
	void *moved;

	if (!arena_has(block))
		return found.realloc(block, size);
	moved = found.malloc(size);
	if (moved)
		memcpy(moved, block, size < arena_size(block) ? size : arena_size(block));
	return moved;
}

static size_t arena_usable_size(void *block)
{
	return arena_has(block) ? arena_size(block) : found.malloc_usable_size(block);
}

/* First calls: resolve, then go on. While this thread is resolving: the arena. */
static void *first_malloc(size_t size)
{
	if (resolving)
		return arena_take(size);
	next_resolve();
	return next.malloc(size);
}

static void *first_calloc(size_t count, size_t size)
{
	size_t bytes;

	if (!resolving) {
		next_resolve();
		return next.calloc(count, size);
	}
	return __builtin_mul_overflow(count, size, &bytes) ? NULL : arena_take(bytes);
}

static void *first_realloc(void *block, size_t size)
{
	void *moved;

	if (!resolving) {
		next_resolve();
		return next.realloc(block, size);
	}
	moved = arena_take(size);
	if (moved && block && arena_has(block))
		memcpy(moved, block, size < arena_size(block) ? size : arena_size(block));
	return moved;
}

static void first_free(void *block)
{
	/* A block that is given up while nobody knows whose it is can only be kept. */
	if (resolving)
		return;
	next_resolve();
	next.free(block);
}

#define FIRST_FUNCTION(type, name, parameters, arguments)                                          \
	static type first_##name parameters                                                        \
	{                                                                                          \
		next_resolve();                                                                    \
		return next.name arguments;                                                        \
	}
FIRST_FUNCTION(int, posix_memalign, (void **out, size_t alignment, size_t size),
	       (out, alignment, size))
FIRST_FUNCTION(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
FIRST_FUNCTION(void *, memalign, (size_t alignment, size_t size), (alignment, size))
FIRST_FUNCTION(void *, valloc, (size_t size), (size))
FIRST_FUNCTION(void *, pvalloc, (size_t size), (size))
FIRST_FUNCTION(size_t, malloc_usable_size, (void *block), (block))

struct next next = {
#define NEXT_FIRST(type, name, parameters, arguments) .name = first_##name,
	NEXT_FUNCTIONS(NEXT_FIRST)
#undef NEXT_FIRST
		.free = first_free,
};

static void *resolve(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

void next_resolve(void)
{
	struct next all;

	if (resolving)
		return;
	resolving = true;
#define NEXT_RESOLVE(type, name, parameters, arguments) *(void **)&all.name = resolve(#name);
	NEXT_FUNCTIONS(NEXT_RESOLVE)
#undef NEXT_RESOLVE
	*(void **)&all.free = resolve("free");
	found = all; /* two threads may both do this: they write the same values */
	if (__atomic_load_n(&arena_used, __ATOMIC_RELAXED)) {
		all.free = arena_free;
		all.realloc = arena_realloc;
		all.malloc_usable_size = arena_usable_size;
	}
	next = all;
	resolving = false;
}

const char *next_usurper(void)
{
	void *bound = dlsym(RTLD_DEFAULT, "malloc");
	struct dl_find_object theirs, ours;

	if (!bound || _dl_find_object(bound, &theirs) || _dl_find_object(&next, &ours) ||
	    theirs.dlfo_link_map == ours.dlfo_link_map)
		return NULL;
	return theirs.dlfo_link_map->l_name[0] ? theirs.dlfo_link_map->l_name : "the executable";
}

/* SPDX-License-Identifier: MIT */
/*
 * forward.c - the baseline of the benchmarks: a preload that hands malloc, calloc, realloc and free
 * on to the next allocator and does nothing else. What heaptap costs is what it costs beyond this.
 */
#include <dlfcn.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void *malloc(size_t size);
EXPORT void *calloc(size_t count, size_t size);
EXPORT void *realloc(void *block, size_t size);
EXPORT void free(void *block);

static void *first_malloc(size_t size);
static void *first_calloc(size_t count, size_t size);
static void *first_realloc(void *block, size_t size);
static void first_free(void *block);

static void *(*next_malloc)(size_t) = first_malloc;
static void *(*next_calloc)(size_t, size_t) = first_calloc;
static void *(*next_realloc)(void *, size_t) = first_realloc;
static void (*next_free)(void *) = first_free;

static void resolve(void)
{
	*(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&next_free = dlsym(RTLD_NEXT, "free");
}

static void *first_malloc(size_t size)
{
	resolve();
	return next_malloc(size);
}

static void *first_calloc(size_t count, size_t size)
{
	resolve();
	return next_calloc(count, size);
}

static void *first_realloc(void *block, size_t size)
{
	resolve();
	return next_realloc(block, size);
}

static void first_free(void *block)
{
	resolve();
	next_free(block);
}

void *malloc(size_t size)
{
	return next_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return next_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	return next_realloc(block, size);
}

void free(void *block)
{
	next_free(block);
}

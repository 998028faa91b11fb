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

/* What the arena's functions call: the real ones, when `next_free` is one of the arena's. */
static void *(*found_malloc)(size_t size);
static void *(*found_realloc)(void *block, size_t size);
static void (*found_free)(void *block);
static size_t (*found_usable_size)(void *block);

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
		found_free(block);
}

static void *arena_realloc(void *block, size_t size)
{
	void *moved;

	if (!arena_has(block))
		return found_realloc(block, size);
	moved = found_malloc(size);
	if (moved)
		memcpy(moved, block, size < arena_size(block) ? size : arena_size(block));
	return moved;
}

static size_t arena_usable_size(void *block)
{
	return arena_has(block) ? arena_size(block) : found_usable_size(block);
}

/* First calls: resolve, then go on. While this thread is resolving: the arena. Nothing of that is
 * counted: it is our doing, not the host's. */
static void *first_malloc(size_t size)
{
	if (resolving)
		return arena_take(size);
	next_resolve();
	return next_malloc(size);
}

static void *first_calloc(size_t count, size_t size)
{
	size_t bytes;

	if (!resolving) {
		next_resolve();
		return next_calloc(count, size);
	}
	return __builtin_mul_overflow(count, size, &bytes) ? NULL : arena_take(bytes);
}

static void *first_realloc(void *block, size_t size)
{
	void *moved;

	if (!resolving) {
		next_resolve();
		return next_realloc(block, size);
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
	next_free(block);
}

/* What is not needed while resolving. */
#define FIRST_FUNCTION(type, name, parameters, arguments)                                          \
	static type first_##name parameters                                                        \
	{                                                                                          \
		next_resolve();                                                                    \
		return next_##name arguments;                                                      \
	}
FIRST_FUNCTION(void *, reallocarray, (void *block, size_t count, size_t size), (block, count, size))
FIRST_FUNCTION(int, posix_memalign, (void **out, size_t alignment, size_t size),
	       (out, alignment, size))
FIRST_FUNCTION(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
FIRST_FUNCTION(void *, memalign, (size_t alignment, size_t size), (alignment, size))
FIRST_FUNCTION(void *, valloc, (size_t size), (size))
FIRST_FUNCTION(void *, pvalloc, (size_t size), (size))
FIRST_FUNCTION(size_t, malloc_usable_size, (void *block), (block))

#define NEXT_FIRST(type, name, parameters, arguments) type(*next_##name) parameters = first_##name;
NEXT_FUNCTIONS(NEXT_FIRST)
#undef NEXT_FIRST
void (*next_free)(void *block) = first_free;
bool next_has_glibc_header;
bool next_ready;
const char *next_usurper;

static void use_arena(void)
{
	next_has_glibc_header = false;
	next_free = arena_free;
	next_realloc = arena_realloc;
	next_malloc_usable_size = arena_usable_size;
}

static bool is_in_libc(void *function)
{
	struct dl_find_object object, libc;

	return !_dl_find_object(function, &object) && !_dl_find_object((void *)dlsym, &libc) &&
	       object.dlfo_link_map == libc.dlfo_link_map;
}

/* The sizes come first: where they are not glibc's (valgrind puts itself behind libc's names),
 * there may be no header to look at. */
static bool header_tells(void *block, size_t size)
{
	size_t usable = size + sizeof(size_t) <= 32 ? 24 : ((size + 23) & ~(size_t)15) - 8;
	bool told = block && found_usable_size(block) == usable && next_usable(block) == usable;

	next_free(block);
	return told;
}

/* glibc itself, with the header that we know. Blocks in mappings of their own need no check: they
 * are left to the function. */
static bool check_header(void)
{
	static const size_t sizes[] = {0, 1, 24, 25, 40, 41, 1000, 70000};
	bool told = true;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && told; i++)
		told = header_tells(next_malloc(sizes[i]), sizes[i]);
	return told;
}

static size_t unknown_usable_size(void *block)
{
	(void)block;
	return 0;
}

/* tcmalloc's malloc_usable_size allocates in its first call, and would be asked for the size of
 * that block in turn: the first call is made here. */
static void warm_up_usable_size(void)
{
	next_malloc_usable_size = unknown_usable_size;
	found_usable_size(NULL);
	next_malloc_usable_size = found_usable_size;
}

static void learn_usable_size(void)
{
	if (!is_in_libc((void *)found_usable_size)) {
		warm_up_usable_size();
	} else if (is_in_libc((void *)next_malloc)) {
		next_has_glibc_header = true;
		next_has_glibc_header = check_header();
	}
}

/* In an executable that is not position-independent, the address of a function may be a stub in the
 * executable: its symbol is undefined, but has a value. The function is then bound as any other. */
static bool is_stub(void *address)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	return dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	       symbol->st_shndx == SHN_UNDEF;
}

const char *next_bound_elsewhere(const char *name)
{
	void *bound = dlsym(RTLD_DEFAULT, name);
	struct dl_find_object theirs, ours;

	if (!bound || _dl_find_object(bound, &theirs) ||
	    _dl_find_object((void *)next_resolve, &ours) ||
	    theirs.dlfo_link_map == ours.dlfo_link_map || is_stub(bound))
		return NULL;
	return theirs.dlfo_link_map->l_name[0] ? theirs.dlfo_link_map->l_name : "the executable";
}

void next_resolve(void)
{
	if (resolving || next_ready)
		return;
	resolving = true;
	/* Two threads may both come here: they write the same values. */
#define NEXT_RESOLVE(type, name, parameters, arguments)                                            \
	*(void **)&next_##name = dlsym(RTLD_NEXT, #name);
	NEXT_FUNCTIONS(NEXT_RESOLVE)
#undef NEXT_RESOLVE
	*(void **)&next_free = dlsym(RTLD_NEXT, "free");
	found_malloc = next_malloc;
	found_realloc = next_realloc;
	found_free = next_free;
	found_usable_size = next_malloc_usable_size;
	learn_usable_size();
	next_usurper = next_bound_elsewhere("malloc");
	if (__atomic_load_n(&arena_used, __ATOMIC_RELAXED))
		use_arena();
	resolving = false;
	next_ready = true;
}

/* SPDX-License-Identifier: MIT */
/*
 * interpose.c - malloc and its family: hand the call on, count what succeeded.
 *
 * Pointers, sizes, results and errno are those of the next allocator. malloc_usable_size is left
 * alone: blocks carry no header of ours, so the allocator's own answer is right.
 */
#include "agent/record.h"

#include <errno.h>

HT_EXPORT void *malloc(size_t size);
HT_EXPORT void free(void *block);
HT_EXPORT void *calloc(size_t count, size_t size);
HT_EXPORT void *realloc(void *block, size_t size);
HT_EXPORT void *reallocarray(void *block, size_t count, size_t size);
HT_EXPORT int posix_memalign(void **out, size_t alignment, size_t size);
HT_EXPORT void *aligned_alloc(size_t alignment, size_t size);
HT_EXPORT void *memalign(size_t alignment, size_t size);
HT_EXPORT void *valloc(size_t size);
HT_EXPORT void *pvalloc(size_t size);

void *malloc(size_t size)
{
	void *block = next_malloc(size);

	if (HT_LIKELY(block))
		record_alloc(SEG_KIND_MALLOC, PLATFORM_CALLER(), size, block);
	return block;
}

void free(void *block)
{
	if (HT_LIKELY(block))
		record_free(SEG_KIND_FREE, PLATFORM_CALLER(), block);
	next_free(block);
}

void *calloc(size_t count, size_t size)
{
	void *block = next_calloc(count, size);

	if (HT_LIKELY(block)) /* so the product did not overflow */
		record_alloc(SEG_KIND_CALLOC, PLATFORM_CALLER(), count * size, block);
	return block;
}

/* The old block's size is taken before the call: afterwards it may be another thread's block. */
HT_INLINE void *resize(void *block, size_t size, uintptr_t caller)
{
	size_t old_usable = block ? next_usable(block) : 0;
	void *moved = next_realloc(block, size);

	if (!block) {
		if (HT_LIKELY(moved))
			record_alloc(SEG_KIND_REALLOC_NULL, caller, size, moved);
	} else if (HT_LIKELY(moved)) {
		record_realloc(caller, block, old_usable, size, moved);
	} else if (!size) {
		record_realloc_free(caller, old_usable);
	}
	return moved;
}

void *realloc(void *block, size_t size)
{
	return resize(block, size, PLATFORM_CALLER());
}

/* libc's own reallocarray would call our realloc and make itself the call site. */
void *reallocarray(void *block, size_t count, size_t size)
{
	size_t bytes;

	if (HT_UNLIKELY(next_usurper))
		return next_reallocarray(block, count, size);
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(block, bytes, PLATFORM_CALLER());
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	int err = next_posix_memalign(out, alignment, size);

	if (HT_LIKELY(!err && *out))
		record_alloc(SEG_KIND_ALIGNED, PLATFORM_CALLER(), size, *out);
	return err;
}

#define ALIGNED(name, parameters, arguments)                                                       \
	void *name parameters                                                                      \
	{                                                                                          \
		void *block = next_##name arguments;                                               \
                                                                                                   \
		if (HT_LIKELY(block))                                                              \
			record_alloc(SEG_KIND_ALIGNED, PLATFORM_CALLER(), size, block);            \
		return block;                                                                      \
	}
ALIGNED(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
ALIGNED(memalign, (size_t alignment, size_t size), (alignment, size))
ALIGNED(valloc, (size_t size), (size))
ALIGNED(pvalloc, (size_t size), (size))

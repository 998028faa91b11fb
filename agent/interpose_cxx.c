/* SPDX-License-Identifier: MIT */
/*
 * interpose_cxx.c - every form of operator new and delete.
 *
 * Each form goes one of two ways, by where the next definition of it comes from:
 *
 *   PLAIN    the C++ runtime, whose operator would only call malloc; or the object that defines the
 *            next malloc too (jemalloc, tcmalloc, mimalloc), which takes its blocks back by either
 *            name; or nowhere (a C program that loads C++ later). The next malloc or free is called
 *            at once. When there is no memory, the real operator takes over, with its new-handler
 * and its exception; what it gets from our malloc in the end is counted there. No state of ours is
 * held, so it may throw. FOREIGN  some other object that replaces operator new: it is called, and
 * nothing is counted here but what it takes from malloc.
 *
 * The allocators' own operators are not called, since some of them call malloc or free by name,
 * which would be counted twice, and some do not.
 */
#include "agent/interpose_cxx.h"
#include "agent/record.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* form, symbol, kind, parameters after the size, and the same as arguments */
#define NEW_FORMS(X)                                                                               \
	X(NEW, _Znwm, SEG_KIND_NEW, (size_t size), (size))                                         \
	X(NEW_ARRAY, _Znam, SEG_KIND_NEW_ARRAY, (size_t size), (size))                             \
	X(NEW_NOTHROW, _ZnwmRKSt9nothrow_t, SEG_KIND_NEW, (size_t size, const void *tag),          \
	  (size, tag))                                                                             \
	X(NEW_ARRAY_NOTHROW, _ZnamRKSt9nothrow_t, SEG_KIND_NEW_ARRAY,                              \
	  (size_t size, const void *tag), (size, tag))

#define NEW_ALIGNED_FORMS(X)                                                                       \
	X(NEW_ALIGNED, _ZnwmSt11align_val_t, SEG_KIND_NEW, (size_t size, size_t alignment),        \
	  (size, alignment))                                                                       \
	X(NEW_ARRAY_ALIGNED, _ZnamSt11align_val_t, SEG_KIND_NEW_ARRAY,                             \
	  (size_t size, size_t alignment), (size, alignment))                                      \
	X(NEW_ALIGNED_NOTHROW, _ZnwmSt11align_val_tRKSt9nothrow_t, SEG_KIND_NEW,                   \
	  (size_t size, size_t alignment, const void *tag), (size, alignment, tag))                \
	X(NEW_ARRAY_ALIGNED_NOTHROW, _ZnamSt11align_val_tRKSt9nothrow_t, SEG_KIND_NEW_ARRAY,       \
	  (size_t size, size_t alignment, const void *tag), (size, alignment, tag))

#define DELETE_FORMS(X)                                                                            \
	X(DELETE, _ZdlPv, SEG_KIND_DELETE, (void *block), (block))                                 \
	X(DELETE_ARRAY, _ZdaPv, SEG_KIND_DELETE_ARRAY, (void *block), (block))                     \
	X(DELETE_SIZED, _ZdlPvm, SEG_KIND_DELETE, (void *block, size_t size), (block, size))       \
	X(DELETE_ARRAY_SIZED, _ZdaPvm, SEG_KIND_DELETE_ARRAY, (void *block, size_t size),          \
	  (block, size))                                                                           \
	X(DELETE_NOTHROW, _ZdlPvRKSt9nothrow_t, SEG_KIND_DELETE, (void *block, const void *tag),   \
	  (block, tag))                                                                            \
	X(DELETE_ARRAY_NOTHROW, _ZdaPvRKSt9nothrow_t, SEG_KIND_DELETE_ARRAY,                       \
	  (void *block, const void *tag), (block, tag))                                            \
	X(DELETE_ALIGNED, _ZdlPvSt11align_val_t, SEG_KIND_DELETE, (void *block, size_t alignment), \
	  (block, alignment))                                                                      \
	X(DELETE_ARRAY_ALIGNED, _ZdaPvSt11align_val_t, SEG_KIND_DELETE_ARRAY,                      \
	  (void *block, size_t alignment), (block, alignment))                                     \
	X(DELETE_SIZED_ALIGNED, _ZdlPvmSt11align_val_t, SEG_KIND_DELETE,                           \
	  (void *block, size_t size, size_t alignment), (block, size, alignment))                  \
	X(DELETE_ARRAY_SIZED_ALIGNED, _ZdaPvmSt11align_val_t, SEG_KIND_DELETE_ARRAY,               \
	  (void *block, size_t size, size_t alignment), (block, size, alignment))                  \
	X(DELETE_ALIGNED_NOTHROW, _ZdlPvSt11align_val_tRKSt9nothrow_t, SEG_KIND_DELETE,            \
	  (void *block, size_t alignment, const void *tag), (block, alignment, tag))               \
	X(DELETE_ARRAY_ALIGNED_NOTHROW, _ZdaPvSt11align_val_tRKSt9nothrow_t,                       \
	  SEG_KIND_DELETE_ARRAY, (void *block, size_t alignment, const void *tag),                 \
	  (block, alignment, tag))

#define ALL_FORMS(X) NEW_FORMS(X) NEW_ALIGNED_FORMS(X) DELETE_FORMS(X)

enum form {
#define FORM_ENUM(form, symbol, kind, parameters, arguments) FORM_##form,
	ALL_FORMS(FORM_ENUM)
#undef FORM_ENUM
		FORMS
};

static const char *const form_symbols[FORMS] = {
#define FORM_SYMBOL(form, symbol, kind, parameters, arguments) #symbol,
	ALL_FORMS(FORM_SYMBOL)
#undef FORM_SYMBOL
};

static bool foreign;
static void *next_form[FORMS]; /* NULL where nothing is known */

static bool is_runtime(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return !strncmp(name, "libstdc++.so", 12) || !strncmp(name, "libc++.so", 9) ||
	       !strncmp(name, "libc++abi.so", 12);
}

static bool is_foreign(void *definition, const struct link_map *allocator)
{
	struct dl_find_object object;

	return definition && !_dl_find_object(definition, &object) &&
	       object.dlfo_link_map != allocator && !is_runtime(object.dlfo_link_map->l_name);
}

static bool is_ours(void *definition)
{
	struct dl_find_object theirs, ours;

	return definition && !_dl_find_object(definition, &theirs) &&
	       !_dl_find_object((void *)is_ours, &ours) &&
	       theirs.dlfo_link_map == ours.dlfo_link_map;
}

/* The forms call each other by name: where one is replaced, by the executable or by a library, the
 * others depend on it. */
static bool any_is_foreign(const struct link_map *allocator)
{
	for (int form = 0; form < FORMS; form++)
		if (is_foreign(next_form[form], allocator) ||
		    next_bound_elsewhere(form_symbols[form]))
			return true;
	return false;
}

void interpose_cxx_resolve(void)
{
	struct dl_find_object allocator;

	/* One failed look-up is enough for a program without C++. */
	if (next_usurper || !dlsym(RTLD_NEXT, form_symbols[FORM_NEW])) {
		foreign = next_usurper;
		return;
	}
	for (int form = 0; form < FORMS; form++)
		next_form[form] = dlsym(RTLD_NEXT, form_symbols[form]);
	foreign = _dl_find_object((void *)next_malloc, &allocator) ||
		  any_is_foreign(allocator.dlfo_link_map);
}

static void *no_block(void)
{
	return NULL;
}

static bool may_return_null(enum form form)
{
	return strstr(form_symbols[form], "nothrow");
}

/* In an object that is loaded already, or in what it depends on. */
static void *find_in(const char *path, enum form form)
{
	void *object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	void *found = object ? dlsym(object, form_symbols[form]) : NULL;

	return is_ours(found) ? NULL : found;
}

/* Out of RTLD_NEXT's sight: the caller may be a plugin that has the runtime in itself, or the
 * runtime was loaded with it. */
static void *find_late(enum form form, uintptr_t caller)
{
	static const char *const runtimes[] = {"libstdc++.so.6", "libc++.so.1"};
	struct dl_find_object object;
	void *found = NULL;

	if (!_dl_find_object((void *)caller, &object) && object.dlfo_link_map->l_name[0])
		found = find_in(object.dlfo_link_map->l_name, form);
	for (size_t i = 0; !found && i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		found = find_in(runtimes[i], form);
	return found;
}

/* The real operator, for when memory is short or ours must stay out of it. Where there is none
 * there is nobody who could throw bad_alloc either, and a throwing operator new must not return
 * null: the program would end by an uncaught exception, and ends here instead. */
HT_COLD static void *real_form(enum form form, uintptr_t caller)
{
	void *found = next_form[form];

	if (!found)
		found = find_late(form, caller);
	if (!found && may_return_null(form))
		return (void *)no_block;
	if (!found)
		abort();
	return found;
}

/* operator new(0) gives a block like any other. */
HT_INLINE void *plain_aligned(size_t size, size_t alignment)
{
	size_t rounded;

	if (!size)
		size = 1;
	if (__builtin_add_overflow(size, alignment - 1, &rounded))
		return NULL;
	return next_aligned_alloc(alignment, rounded & ~(alignment - 1));
}

#define CALL(form, type, parameters, arguments)                                                    \
	(((type(*) parameters)real_form(form, PLATFORM_CALLER()))arguments)

#define DEFINE_NEW_AS(take, form, symbol, kind, parameters, arguments)                             \
	HT_EXPORT void *symbol parameters;                                                         \
	void *symbol parameters                                                                    \
	{                                                                                          \
		void *block = HT_UNLIKELY(foreign) ? NULL : (take);                                \
                                                                                                   \
		if (HT_UNLIKELY(!block))                                                           \
			return CALL(FORM_##form, void *, parameters, arguments);                   \
		record_alloc(kind, PLATFORM_CALLER(), size, block);                                \
		return block;                                                                      \
	}

#define DEFINE_NEW(form, symbol, kind, parameters, arguments)                                      \
	DEFINE_NEW_AS(next_malloc(size ? size : 1), form, symbol, kind, parameters, arguments)
#define DEFINE_NEW_ALIGNED(form, symbol, kind, parameters, arguments)                              \
	DEFINE_NEW_AS(plain_aligned(size, alignment), form, symbol, kind, parameters, arguments)

#define DEFINE_DELETE(form, symbol, kind, parameters, arguments)                                   \
	HT_EXPORT void symbol parameters;                                                          \
	void symbol parameters                                                                     \
	{                                                                                          \
		if (HT_UNLIKELY(foreign)) {                                                        \
			CALL(FORM_##form, void, parameters, arguments);                            \
			return;                                                                    \
		}                                                                                  \
		if (HT_LIKELY(block))                                                              \
			record_free(kind, PLATFORM_CALLER(), block);                               \
		next_free(block);                                                                  \
	}

/* The alignment, size and tag of a delete are only handed on, where there is someone to take them.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
NEW_FORMS(DEFINE_NEW)
NEW_ALIGNED_FORMS(DEFINE_NEW_ALIGNED)
DELETE_FORMS(DEFINE_DELETE)
#pragma GCC diagnostic pop

/* SPDX-License-Identifier: MIT */
/*
 * api.c - prints what the heap functions answer at their edges: results, errno, usable sizes.
 *
 * The text must be the same with and without heaptap, over any allocator.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile size_t huge = SIZE_MAX / 2 + 1;
static volatile size_t quarter = SIZE_MAX / 4;
static volatile size_t zero;

static void say(const char *what, void *block)
{
	int error = errno;

	printf("%s: %s usable %zu errno %d\n", what, block ? "block" : "NULL",
	       block ? malloc_usable_size(block) : 0, error);
	errno = 0;
}

static void say_and_free(const char *what, void *block)
{
	say(what, block);
	free(block);
}

static void try_sizes(void)
{
	errno = 0;
	say_and_free("malloc 0", malloc(zero));
	say_and_free("malloc 1", malloc(1));
	say_and_free("malloc 1000", malloc(1000));
	say_and_free("malloc 1000000", malloc(1000000));
	say_and_free("malloc huge", malloc(huge));
	say_and_free("calloc 0 8", calloc(zero, 8));
	say_and_free("calloc 3 100", calloc(3, 100));
	say_and_free("calloc overflow", calloc(quarter, 8));
	say_and_free("reallocarray NULL 3 100", reallocarray(NULL, 3, 100));
	say_and_free("reallocarray overflow", reallocarray(NULL, quarter, 8));
}

static void try_realloc(void)
{
	char *block = malloc(10);

	say_and_free("realloc NULL 20", realloc(NULL, 20));
	strcpy(block, "kept");
	block = realloc(block, 100000);
	say("realloc 100000", block);
	printf("content %s\n", block);
	block = realloc(block, 5);
	say("realloc 5", block);
	printf("content %s\n", block);
	say("realloc huge", realloc(block, huge));
	printf("content %s\n", block);
	say_and_free("realloc 0", realloc(block, zero));
}

static void try_alignments(void)
{
	static const size_t alignments[] = {0, 1, 3, 8, 16, 48, 64, 4096, 65536};

	for (size_t i = 0; i < sizeof(alignments) / sizeof(alignments[0]); i++) {
		char mark;
		void *out = &mark;
		int error = posix_memalign(&out, alignments[i], 100);

		printf("posix_memalign %zu: %d %s errno %d\n", alignments[i], error,
		       out == &mark ? "untouched" : "set", errno);
		if (!error)
			printf("aligned %d\n", (uintptr_t)out % alignments[i] == 0);
		if (out != &mark)
			free(out);
		errno = 0;
		if (alignments[i] < 8 || alignments[i] == 48)
			continue; /* what these answer depends on more than the allocator */
		say_and_free("aligned_alloc", aligned_alloc(alignments[i], 256));
		say_and_free("memalign", memalign(alignments[i], 256));
	}
	say_and_free("memalign huge", memalign(64, huge));
	say_and_free("valloc 100", valloc(100));
}

/* free keeps errno, also where it gives memory back to the kernel. */
static void try_errno(void)
{
	void *block = malloc(50 << 20);

	errno = 77;
	free(block);
	printf("errno after free %d\n", errno);
	free(NULL);
	printf("errno after free of nothing %d\n", errno);
	block = malloc(20);
	printf("errno after malloc %d\n", errno);
	block = realloc(block, 40);
	printf("errno after realloc %d\n", errno);
	free(block);
	printf("usable of nothing %zu\n", malloc_usable_size(NULL));
}

/* All that was said to be usable may be used. */
static void try_usable(void)
{
	for (size_t size = 0; size < 3000; size += 37) {
		char *block = malloc(size);
		size_t usable = malloc_usable_size(block);

		if (usable < size)
			printf("usable %zu below %zu\n", usable, size);
		memset(block, 0xa5, usable);
		free(block);
	}
}

int main(void)
{
	try_sizes();
	try_realloc();
	try_alignments();
	try_errno();
	try_usable();
	puts("ok");
	return 0;
}

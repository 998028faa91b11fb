/* SPDX-License-Identifier: MIT */
/*
 * crowd.c - many threads: `passing` created and ended one by one, then `alive` at once.
 *
 *	crowd PASSING ALIVE [NAME]
 *
 * Every thread makes one malloc(100), one free of it and one malloc(7) that the main thread frees.
 * With all of the `alive` there, it prints "ready" and waits for the end of its stdin; the last
 * ones end afterwards. NAME, any bytes, is given to the main thread.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static pthread_barrier_t all_there;
static int hold[2];
static pthread_attr_t small;

static void expect(int good, int status)
{
	if (!good)
		_exit(status);
}

/* Out of line, so that there is one call site for each. */
__attribute__((noinline)) static void *allocate_one(size_t size)
{
	void *block = malloc(size);

	expect(block != NULL, 10);
	return block;
}

__attribute__((noinline)) static void free_one(void *block)
{
	free(block);
}

static void *pass(void *data)
{
	(void)data;
	free_one(allocate_one(100));
	return allocate_one(7);
}

static void *stay(void *data)
{
	void *result = pass(data);
	char byte;

	pthread_barrier_wait(&all_there);
	while (read(hold[0], &byte, 1) < 0 && errno == EINTR)
		;
	return result;
}

static void join(pthread_t thread)
{
	void *block;

	expect(!pthread_join(thread, &block), 11);
	free_one(block);
}

int main(int argc, char **argv)
{
	static pthread_t threads[4096];
	int passing = argc > 1 ? atoi(argv[1]) : 0;
	int alive = argc > 2 ? atoi(argv[2]) : 0;
	char byte;

	if (argc > 3)
		prctl(PR_SET_NAME, argv[3]);
	expect(alive <= 4096 && !pipe(hold), 12);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_barrier_init(&all_there, NULL, (unsigned)alive + 1);
	for (int i = 0; i < passing; i++) {
		pthread_t thread;

		expect(!pthread_create(&thread, &small, pass, NULL), 13);
		join(thread);
	}
	for (int i = 0; i < alive; i++)
		expect(!pthread_create(&threads[i], &small, stay, NULL), 14);
	pthread_barrier_wait(&all_there);
	expect(write(1, "ready\n", 6) == 6, 15);
	while (read(0, &byte, 1) > 0)
		;
	close(hold[1]);
	for (int i = 0; i < alive; i++)
		join(threads[i]);
	return 0;
}

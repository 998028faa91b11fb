/* SPDX-License-Identifier: MIT */
/*
 * exact.c - a host that does a known amount of everything C can do with the heap, and says so.
 *
 *	exact [threads [children [rounds [forms]]]]
 *
 * The main thread, `threads` more and `children` forked processes (each with one more thread) run
 * the same random mixture. Then everything stands still: the host prints what it did (tally.h)
 * and waits for the end of its stdin with all threads and children alive. Whatever it reports is
 * from call instructions of this file; what libc allocates on its behalf is in other modules.
 * `forms` 4 leaves pvalloc out: jemalloc 5.3 does not replace it, but would get its block to free.
 */
#include "tests/hosts/tally.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { SLOTS = 64, HANDED_OVER = 8, CHILD_FREES = 5 };

/* Sizes that must fail, hidden from the compiler, which would warn or decide by itself. */
static volatile size_t too_big = SIZE_MAX / 2 + 1;
static volatile size_t half = SIZE_MAX / 4;

static unsigned rounds = 2000;
static unsigned forms = 5;
static int hold[2]; /* its end of file ends the threads and children */
static pthread_barrier_t done;

struct worker {
	pthread_t thread;
	unsigned seed;
	void *handed_over[HANDED_OVER]; /* freed by the main thread */
};

static unsigned random_next(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 8;
}

static size_t random_size(unsigned *seed)
{
	unsigned dice = random_next(seed) % 64;

	if (dice == 0)
		return 0;
	if (dice == 1)
		return 100000 + random_next(seed) % 300000; /* by mmap, most of them */
	return random_next(seed) % (dice < 40 ? 300 : 5000);
}

NOINLINE static void *do_malloc(size_t size)
{
	void *block = malloc(size);

	tally_alloc(TALLY_MALLOC, block, size);
	return block;
}

NOINLINE static void *do_calloc(size_t count, size_t size)
{
	void *block = calloc(count, size);

	tally_alloc(TALLY_CALLOC, block, count * size);
	return block;
}

NOINLINE static void *do_aligned(unsigned form, size_t size)
{
	void *block = NULL;

	switch (form % forms) {
	case 0:
		if (posix_memalign(&block, 64, size))
			_exit(90);
		break;
	case 1:
		block = aligned_alloc(32, size);
		break;
	case 2:
		block = memalign(256, size);
		break;
	case 3:
		block = valloc(size);
		break;
	default:
		block = pvalloc(size);
	}
	tally_alloc(TALLY_ALIGNED, block, size);
	return block;
}

NOINLINE static void *do_realloc(void *block, size_t size)
{
	volatile uintptr_t old = (uintptr_t)block; /* the compiler knows that the block is gone */
	size_t old_usable = malloc_usable_size(block);
	void *moved = realloc(block, size);

	tally_realloc(old, old_usable, moved, size);
	return moved || !size ? moved : (void *)old;
}

NOINLINE static void *do_reallocarray(void *block, size_t count, size_t size)
{
	volatile uintptr_t old = (uintptr_t)block;
	size_t old_usable = malloc_usable_size(block);
	void *moved = reallocarray(block, count, size);

	tally_realloc(old, old_usable, moved, count * size);
	return moved || !count || !size ? moved : (void *)old;
}

NOINLINE static void do_free(void *block)
{
	tally_free(TALLY_FREE, block);
	free(block);
}

static void expect(bool good, int status)
{
	if (!good)
		_exit(status);
}

/* None of these counts. */
NOINLINE static void do_failures(void)
{
	void *untouched = &rounds;
	void *block = do_malloc(40);

	expect(!malloc(too_big), 80);
	expect(!calloc(half, 8), 81);
	expect(!realloc(block, too_big), 82);
	expect(!reallocarray(block, half, 8), 83);
	expect(!realloc(NULL, too_big), 84);
	expect(!memalign(64, too_big), 85);
	expect(posix_memalign(&untouched, 3, 8) == EINVAL && untouched == &rounds, 86);
	expect(posix_memalign(&untouched, 64, too_big) == ENOMEM && untouched == &rounds, 87);
	free(NULL);
	do_free(block);
}

static void *do_allocation(unsigned *seed)
{
	size_t size = random_size(seed);

	switch (random_next(seed) % 8) {
	case 0:
		return do_calloc(1 + random_next(seed) % 9, size / 8 + 1);
	case 1:
		return do_aligned(random_next(seed), size);
	case 2:
		return do_realloc(NULL, size);
	case 3:
		return do_reallocarray(NULL, 3, size / 4 + 1);
	default:
		return do_malloc(size);
	}
}

static void do_round(void **slot, unsigned *seed)
{
	if (!*slot) {
		*slot = do_allocation(seed);
		return;
	}
	switch (random_next(seed) % 4) {
	case 0:
		*slot = do_realloc(*slot, random_size(seed));
		break;
	case 1:
		*slot = do_reallocarray(*slot, 1 + random_next(seed) % 20, random_size(seed) / 16);
		break;
	default:
		do_free(*slot);
		*slot = NULL;
	}
}

static void do_work(unsigned seed, void **handed_over)
{
	void *slots[SLOTS] = {NULL};

	do_failures();
	for (unsigned i = 0; i < rounds; i++)
		do_round(&slots[random_next(&seed) % SLOTS], &seed);
	for (unsigned i = 0; i < SLOTS; i++)
		do_free(slots[i]);
	for (unsigned i = 0; handed_over && i < HANDED_OVER; i++)
		handed_over[i] = do_malloc(random_size(&seed));
}

static void wait_for_end(void)
{
	char byte;

	while (read(hold[0], &byte, 1) < 0 && errno == EINTR)
		;
}

static void *run_worker(void *data)
{
	struct worker *worker = data;

	tally_join(false);
	do_work(worker->seed, worker->handed_over);
	pthread_barrier_wait(&done);
	wait_for_end();
	return NULL;
}

/* A child frees what it inherited (its own copy of it), too: the family gave those bytes back. */
static void run_child(unsigned seed, void **inherited, int ready)
{
	struct worker worker = {.seed = seed + 1};

	close(hold[1]);
	tally_join(false);
	for (unsigned i = 0; i < CHILD_FREES; i++)
		do_free(inherited[i]);
	pthread_barrier_init(&done, NULL, 2);
	expect(!pthread_create(&worker.thread, NULL, run_worker, &worker), 95);
	do_work(seed, NULL);
	pthread_barrier_wait(&done);
	expect(write(ready, "r", 1) == 1, 94);
	wait_for_end();
	pthread_join(worker.thread, NULL);
	_exit(0);
}

static void fork_children(unsigned count, void **inherited)
{
	int ready[2];
	char byte;

	expect(!pipe(ready), 93);
	for (unsigned i = 0; i < count; i++) {
		pid_t pid = fork();

		expect(pid >= 0, 92);
		if (!pid)
			run_child(7000 + 10 * i, inherited, ready[1]);
	}
	for (unsigned i = 0; i < count; i++)
		expect(read(ready[0], &byte, 1) == 1, 91);
}

static void wait_for_children(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		int status;

		expect(wait(&status) > 0 && status == 0, 79);
	}
}

static unsigned argument(char **argv, int argc, int index, unsigned fallback)
{
	return index < argc ? (unsigned)atoi(argv[index]) : fallback;
}

int main(int argc, char **argv)
{
	static struct worker workers[64];
	unsigned threads = argument(argv, argc, 1, 4);
	unsigned children = argument(argv, argc, 2, 3);
	char byte;

	rounds = argument(argv, argc, 3, rounds);
	forms = argument(argv, argc, 4, forms);
	tally_create();
	tally_join(true);
	expect(threads <= 64 && !pipe(hold), 96);
	pthread_barrier_init(&done, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++) {
		workers[i].seed = 100 + i;
		expect(!pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 95);
	}
	do_work(1, NULL);
	pthread_barrier_wait(&done);
	if (threads)
		fork_children(children, workers[0].handed_over);
	for (unsigned i = 0; i < threads; i++)
		for (unsigned k = 0; k < HANDED_OVER; k++)
			do_free(workers[i].handed_over[k]);
	tally_print();
	while (read(0, &byte, 1) > 0)
		;
	close(hold[1]);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	wait_for_children(threads ? children : 0);
	return 0;
}

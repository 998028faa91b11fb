/* SPDX-License-Identifier: MIT */
/*
 * exact_cxx.cpp - a host that uses every form of operator new and delete a known number of times.
 *
 *	exact_cxx [threads [rounds [failing]]]
 *
 * Prints what it did (tally.h) and waits for the end of its stdin, threads alive. The operators are
 * called by name, never by a new-expression: the compiler may leave those out. A new fails only in
 * the main thread, where libstdc++ allocates the exception (for a nothrow form, too).
 * `failing` 0 leaves that out: mimalloc, built as C, aborts instead of throwing.
 */
#include "tests/hosts/tally.h"

#include <new>
#include <pthread.h>

#define NOINLINE __attribute__((noinline, noclone))

static unsigned rounds = 300;
static bool failing = true;
static int hold[2];
static pthread_barrier_t done;
static int handler_calls;
static volatile size_t too_big = SIZE_MAX / 2 + 1;

static void expect(bool good, int status)
{
	if (!good)
		_exit(status);
}

constexpr std::align_val_t wide{64};

NOINLINE static void do_plain(size_t size)
{
	void *block = ::operator new(size);

	tally_alloc(TALLY_NEW, block, size);
	tally_free(TALLY_DELETE, block);
	::operator delete(block);
}

NOINLINE static void do_array(size_t size)
{
	void *block = ::operator new[](size);

	tally_alloc(TALLY_NEW_ARRAY, block, size);
	tally_free(TALLY_DELETE_ARRAY, block);
	::operator delete[](block);
}

NOINLINE static void do_sized(size_t size)
{
	void *block = ::operator new(size);
	void *array = ::operator new[](size);

	tally_alloc(TALLY_NEW, block, size);
	tally_alloc(TALLY_NEW_ARRAY, array, size);
	tally_free(TALLY_DELETE, block);
	::operator delete(block, size);
	tally_free(TALLY_DELETE_ARRAY, array);
	::operator delete[](array, size);
}

NOINLINE static void do_nothrow(size_t size)
{
	void *block = ::operator new(size, std::nothrow);
	void *array = ::operator new[](size, std::nothrow);

	tally_alloc(TALLY_NEW, block, size);
	tally_alloc(TALLY_NEW_ARRAY, array, size);
	tally_free(TALLY_DELETE, block);
	::operator delete(block, std::nothrow);
	tally_free(TALLY_DELETE_ARRAY, array);
	::operator delete[](array, std::nothrow);
}

NOINLINE static void do_aligned(size_t size)
{
	void *block = ::operator new(size, wide);
	void *array = ::operator new[](size, wide);

	expect((uintptr_t)block % 64 == 0 && (uintptr_t)array % 64 == 0, 70);
	tally_alloc(TALLY_NEW, block, size);
	tally_alloc(TALLY_NEW_ARRAY, array, size);
	tally_free(TALLY_DELETE, block);
	::operator delete(block, wide);
	tally_free(TALLY_DELETE_ARRAY, array);
	::operator delete[](array, wide);
}

NOINLINE static void do_aligned_sized(size_t size)
{
	void *block = ::operator new(size, wide);
	void *array = ::operator new[](size, wide);

	tally_alloc(TALLY_NEW, block, size);
	tally_alloc(TALLY_NEW_ARRAY, array, size);
	tally_free(TALLY_DELETE, block);
	::operator delete(block, size, wide);
	tally_free(TALLY_DELETE_ARRAY, array);
	::operator delete[](array, size, wide);
}

NOINLINE static void do_aligned_nothrow(size_t size)
{
	void *block = ::operator new(size, wide, std::nothrow);
	void *array = ::operator new[](size, wide, std::nothrow);

	tally_alloc(TALLY_NEW, block, size);
	tally_alloc(TALLY_NEW_ARRAY, array, size);
	tally_free(TALLY_DELETE, block);
	::operator delete(block, wide, std::nothrow);
	tally_free(TALLY_DELETE_ARRAY, array);
	::operator delete[](array, wide, std::nothrow);
}

/* malloc and free in the same program, so that both families stand side by side. */
NOINLINE static void do_malloc(size_t size)
{
	void *block = malloc(size);

	tally_alloc(TALLY_MALLOC, block, size);
	tally_free(TALLY_FREE, block);
	free(block);
}

static void count_and_give_up()
{
	handler_calls++;
	std::set_new_handler(nullptr);
}

NOINLINE static void do_failing_nothrow()
{
	expect(!::operator new(too_big, std::nothrow), 71);
	expect(!::operator new[](too_big, std::nothrow), 72);
	expect(!::operator new(too_big, wide, std::nothrow), 73);
	::operator delete(nullptr);
	::operator delete[](nullptr);
}

NOINLINE static void do_failing()
{
	bool caught = false;

	std::set_new_handler(count_and_give_up);
	try {
		expect(!::operator new(too_big), 76);
	} catch (const std::bad_alloc &) {
		caught = true;
	}
	expect(caught && handler_calls == 1, 74);
}

static void do_work()
{
	for (unsigned i = 0; i < rounds; i++) {
		size_t size = i * 37 % 3000;

		do_plain(size);
		do_array(size + 1);
		do_sized(size + 2);
		do_nothrow(size + 3);
		do_aligned(size + 4);
		do_aligned_sized(size + 5);
		do_aligned_nothrow(size + 6);
		do_malloc(size + 7);
	}
}

static void *run_worker(void *)
{
	char byte;

	tally_join(false);
	do_work();
	pthread_barrier_wait(&done);
	expect(read(hold[0], &byte, 1) == 0, 75);
	return nullptr;
}

int main(int argc, char **argv)
{
	static pthread_t workers[64];
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
	char byte;

	rounds = argc > 2 ? (unsigned)atoi(argv[2]) : rounds;
	failing = argc <= 3 || atoi(argv[3]);
	tally_create();
	tally_join(true);
	expect(threads <= 64 && !pipe(hold), 96);
	pthread_barrier_init(&done, nullptr, threads + 1);
	for (unsigned i = 0; i < threads; i++)
		expect(!pthread_create(&workers[i], nullptr, run_worker, nullptr), 95);
	do_work();
	pthread_barrier_wait(&done);
	if (failing) {
		do_failing_nothrow();
		do_failing(); /* alone: there is one new_handler for all threads */
	}
	tally_print();
	while (read(0, &byte, 1) > 0)
		;
	close(hold[1]);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(workers[i], nullptr);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * sites.c - a host with 10,000 distinct call instructions of malloc, and one of free.
 *
 *	sites [ROUNDS]
 *
 * Site i (0 .. 9999) asks for 1 + i % 100 bytes, once in every round. It prints "ready" and waits
 * for the end of its stdin with the results standing.
 */
#include <stdlib.h>
#include <unistd.h>

static unsigned next_size;

__attribute__((noinline)) static void give_back(void *block)
{
	if (!block)
		_exit(10);
	free(block);
}

static size_t choose_size(void)
{
	return 1 + next_size++ % 100;
}

#define ONE    give_back(malloc(choose_size()));
#define TEN(x) x x x x x x x x x x

__attribute__((noinline)) static void allocate_thousand(void)
{
	TEN(TEN(TEN(ONE)))
}

/* Left alone, because clang-format does not come to rest here. */
/* clang-format off */
__attribute__((noinline)) static void allocate_rest(void)
{
	TEN(TEN(TEN(ONE))) TEN(TEN(TEN(ONE))) TEN(TEN(TEN(ONE)))
	TEN(TEN(TEN(ONE))) TEN(TEN(TEN(ONE))) TEN(TEN(TEN(ONE)))
	TEN(TEN(TEN(ONE))) TEN(TEN(TEN(ONE))) TEN(TEN(TEN(ONE)))
}
/* clang-format on */

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	char byte;

	for (int i = 0; i < rounds; i++) {
		allocate_thousand();
		allocate_rest();
	}
	if (write(1, "ready\n", 6) != 6)
		return 1;
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}

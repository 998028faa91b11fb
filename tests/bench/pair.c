/* SPDX-License-Identifier: MIT */
/*
 * pair.c - the pair loop: each step frees the block of a random slot and allocates another there.
 * 1,024 slots a thread, sizes 16 to 272 bytes; every block is written to, so that nothing is
 * optimised away.
 *
 *   pair [PAIRS [THREADS]]     prints ns of CPU time per pair
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLOTS 1024

static unsigned long pairs = 1000000;

static void *run(void *argument)
{
	unsigned char *slots[SLOTS] = {0};
	uint64_t random = 0x243f6a8885a308d3ull + (uintptr_t)argument;

	for (unsigned long i = 0; i < pairs; i++) {
		unsigned slot, size;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		slot = (unsigned)(random >> 54);
		size = 16 + (unsigned)(random >> 40) % 257;
		free(slots[slot]);
		slots[slot] = malloc(size);
		*(volatile unsigned char *)slots[slot] = (unsigned char)size;
	}
	for (int i = 0; i < SLOTS; i++)
		free(slots[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long thread_count = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	pthread_t threads[64];
	struct timespec used;

	if (argc > 1)
		pairs = strtoul(argv[1], NULL, 10);
	if (!pairs || !thread_count || thread_count > 64) {
		fputs("usage: pair [PAIRS [THREADS]], at least 1, at most 64 threads\n", stderr);
		return 2;
	}
	for (uintptr_t i = 0; i + 1 < thread_count; i++)
		pthread_create(&threads[i], NULL, run, (void *)(i + 1));
	run(NULL);
	for (unsigned long i = 0; i + 1 < thread_count; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("%.2f\n",
	       ((double)used.tv_sec * 1e9 + (double)used.tv_nsec) / (double)(pairs * thread_count));
	return 0;
}

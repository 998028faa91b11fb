/* SPDX-License-Identifier: MIT */
/*
 * test_record.c - the agent's recording without its hooks: threads, forks, full tables, reading
 * while it is written. Each test runs in a forked child with a segment of its own, since a process
 * can start to record only once.
 */
#include "agent/record.h"
#include "agent/rows.h"
#include "agent/segment_writer.h"
#include "dashboard/segment_reader.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];

struct sums {
	uint64_t allocs, bytes, frees, sites, unplaced;
	size_t live;
};

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static struct segment *open_segment(void)
{
	char name[64];
	struct segment *reader;
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	snprintf(name, sizeof(name), "%d-%llx.seg", segment->pid,
		 (unsigned long long)segment->start_boot_ns);
	CHECK(!segment_open(fd, name, geteuid(), &reader));
	close(fd);
	return reader;
}

static struct sums read_sums(struct segment *reader)
{
	struct snapshot snapshot = {0};
	struct sums sums = {0};

	CHECK(!segment_read(reader, &snapshot));
	CHECK(!snapshot.invalid);
	for (size_t i = 0; i < snapshot.slot_count; i++) {
		const struct seg_slot *slot = &snapshot.slots[i];
		bool alloc = slot->key >> SEG_KEY_SHIFT == SEG_KIND_MALLOC;

		sums.allocs += alloc ? slot->count : 0;
		sums.bytes += alloc ? slot->bytes : 0;
		sums.frees += alloc ? 0 : slot->count;
		sums.sites += !!(slot->key & SEG_KEY_ADDRESS);
		sums.unplaced += slot->key & SEG_KEY_ADDRESS ? 0 : slot->count;
	}
	for (size_t i = 0; i < snapshot.thread_count; i++)
		sums.live += snapshot.threads[i].live;
	snapshot_free(&snapshot);
	return sums;
}

static void begin(size_t memory)
{
	struct config config = {.memory = memory, .keep = true};

	next_resolve();
	CHECK(!segment_create(&config, dir));
	CHECK(record_start(true));
	segment_publish();
}

static void one_pair(uintptr_t site)
{
	void *block = calloc(1, 100);

	record_alloc(SEG_KIND_MALLOC, site, 100, block);
	record_free(SEG_KIND_FREE, site + 1, block);
	free(block);
}

#define MAIN ((void *)8)

static void *make_pairs(void *argument)
{
	for (int i = 0; i < 1000; i++)
		one_pair(0x1000 + (uintptr_t)argument * 16);
	if (argument != MAIN && record_self->row)
		HT_KERNEL_RELEASED(record_self->row->life); /* this thread ends now */
	return NULL;
}

static void run_threads(int rounds, int at_once)
{
	pthread_t threads[64];

	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < at_once; i++)
			CHECK(!pthread_create(&threads[i], NULL, make_pairs,
					      (void *)(uintptr_t)(i % 8)));
		for (int i = 0; i < at_once; i++)
			pthread_join(threads[i], NULL);
	}
}

static void in_child(void (*body)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void threads_body(void)
{
	struct sums sums;

	begin(8 << 20);
	run_threads(50, 16);
	sums = read_sums(open_segment());
	CHECK(sums.allocs == 800000 && sums.frees == 800000 && sums.bytes == 80000000);
	CHECK(sums.unplaced == 0 && sums.live == 1);
	/* rows were reused: 801 threads do not take 801 rows */
	CHECK(segment->regions[SEG_THREADS].used < 100 * sizeof(struct seg_thread));
}

static void test_threads_come_and_go(void **state)
{
	(void)state;
	in_child(threads_body);
}

static void forks_body(void)
{
	struct sums sums;

	begin(8 << 20);
	make_pairs(MAIN);
	for (int i = 0; i < 200; i++) {
		if (!fork()) {
			make_pairs(MAIN);
			if (i % 10 == 0)
				run_threads(1, 4);
			_exit(0);
		}
		if (i % 8 == 7)
			while (wait(NULL) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
	sums = read_sums(open_segment());
	CHECK(sums.allocs == 281000 && sums.frees == 281000);
	CHECK(segment->dropped[SEG_DROP_LOCK] == 0);
	CHECK(segment->dropped[SEG_DROP_MEMORY] == 0);
	CHECK(sums.live == 1);
	CHECK(sums.unplaced == 0);
	CHECK(segment->processes_started == 201);
	CHECK(segment->regions[SEG_PROCESSES].used < 100 * sizeof(struct seg_process));
}

static void test_forks_come_and_go(void **state)
{
	(void)state;
	in_child(forks_body);
}

static void killed_body(void)
{
	struct sums sums;
	int pipes[2];
	char byte;
	pid_t pid;

	begin(8 << 20);
	CHECK(!pipe(pipes));
	pid = fork();
	if (!pid) {
		make_pairs(MAIN);
		CHECK(write(pipes[1], "x", 1) == 1);
		pause();
	}
	CHECK(read(pipes[0], &byte, 1) == 1);
	make_pairs(MAIN);
	CHECK(read_sums(open_segment()).live == 2);
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	sums = read_sums(open_segment());
	CHECK(sums.live == 1 && sums.allocs == 2000);
}

static void test_killed_process_is_known(void **state)
{
	(void)state;
	in_child(killed_body);
}

/* A debugger stops one process of the family at the worst moment: the others go on, and when it is
 * killed they are as before. */
static void stopped_holder_body(void)
{
	struct sums sums;
	int pipes[2];
	char byte;
	pid_t pid;

	begin(8 << 20);
	CHECK(!pipe(pipes));
	pid = fork();
	if (!pid) {
		make_pairs(MAIN);
		CHECK(segment_lock());
		CHECK(write(pipes[1], "x", 1) == 1);
		pause();
	}
	CHECK(read(pipes[0], &byte, 1) == 1);
	run_threads(1, 8);
	CHECK(segment->dropped[SEG_DROP_LOCK] > 0);
	sums = read_sums(open_segment());
	CHECK(sums.allocs == 9000 && sums.frees == 9000 && sums.unplaced == 16000);
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	run_threads(2, 8);
	CHECK(segment->dropped[SEG_DROP_RECOVERED] == 1);
	sums = read_sums(open_segment());
	CHECK(sums.allocs == 25000 && sums.frees == 25000);
	CHECK(sums.unplaced < 16000 + 8 * 256); /* some still wait until they ask again */
}

static void test_stopped_holder(void **state)
{
	(void)state;
	in_child(stopped_holder_body);
}

static void raw_clone_body(void)
{
	struct sums sums;
	pid_t pid;

	begin(8 << 20);
	make_pairs(MAIN);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		make_pairs(MAIN);
		syscall(SYS_exit_group, 0);
	}
	CHECK(waitpid(pid, NULL, 0) == pid);
	sums = read_sums(open_segment());
	CHECK(sums.allocs == 2000 && sums.frees == 2000);
	CHECK(sums.unplaced == 2000 && sums.live == 1);
	CHECK(segment->dropped[SEG_DROP_PROCESSES] == 1);
}

static void test_fork_behind_libcs_back(void **state)
{
	(void)state;
	in_child(raw_clone_body);
}

static void many_sites_body(void)
{
	struct sums sums;

	begin(8 << 20);
	for (int round = 0; round < 3; round++)
		for (uintptr_t site = 1; site <= 10000; site++)
			one_pair(0x10000 + site * 32);
	sums = read_sums(open_segment());
	CHECK(sums.allocs == 30000 && sums.frees == 30000);
	CHECK(sums.sites == 20000 && sums.unplaced == 0);
}

static void test_many_sites(void **state)
{
	(void)state;
	in_child(many_sites_body);
}

static void full_body(void)
{
	struct sums sums;

	begin(SEG_SIZE_MIN);
	for (uintptr_t site = 1; site <= 40000; site++)
		one_pair(0x10000 + site * 32);
	run_threads(4, 16);
	sums = read_sums(open_segment());
	CHECK(sums.allocs == 40000 + 64000 && sums.frees == sums.allocs);
	CHECK(sums.unplaced > 0 && sums.sites > 1000);
	CHECK(segment->regions[SEG_HEAP].populated <= segment->regions[SEG_HEAP].size);
}

static void test_full_segment_keeps_totals(void **state)
{
	(void)state;
	in_child(full_body);
}

static bool stop;

static void *read_all_the_time(void *argument)
{
	struct segment *reader = argument;
	struct sums last = {0};

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		struct sums sums = read_sums(reader);

		CHECK(sums.allocs >= last.allocs && sums.frees >= last.frees);
		CHECK(sums.frees <=
		      sums.allocs + 64); /* of a pair, the second part is read first */
		last = sums;
	}
	return NULL;
}

static void reading_body(void)
{
	struct segment *reader;
	pthread_t thread;
	struct sums sums;

	begin(8 << 20);
	reader = open_segment();
	CHECK(!pthread_create(&thread, NULL, read_all_the_time, reader));
	run_threads(20, 8);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	sums = read_sums(reader);
	/* the reader's thread does not record */
	CHECK(sums.allocs == 160000 && sums.frees == 160000);
}

static void test_read_while_written(void **state)
{
	(void)state;
	in_child(reading_body);
}

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/dev/shm/heaptap-test-%d", getpid());
	return mkdir(dir, 0700);
}

static int remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_come_and_go),
		cmocka_unit_test(test_forks_come_and_go),
		cmocka_unit_test(test_killed_process_is_known),
		cmocka_unit_test(test_stopped_holder),
		cmocka_unit_test(test_fork_behind_libcs_back),
		cmocka_unit_test(test_many_sites),
		cmocka_unit_test(test_full_segment_keeps_totals),
		cmocka_unit_test(test_read_while_written),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}

/* SPDX-License-Identifier: MIT */
/*
 * test_segment_reader.c - what a valid segment reads as, and that no damaged one does harm. The
 * damages are one by one here; combinations of them are the fuzzer's.
 */
#include "dashboard/segment_reader.h"
#include "tests/unit/segment_builder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SIZE (1u << 20)
#define PID  4242

struct fixture {
	char *dir;
	int dirfd;
	struct builder *builder;
	uint32_t process, thread;
	struct segment *segment;
	struct snapshot snapshot;
};

/* One process with one living thread that has three sites. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct builder *b;

	f->dir = builder_dir_create();
	f->dirfd = open(f->dir, O_RDONLY | O_DIRECTORY);
	f->builder = b = builder_create(f->dir, PID, SIZE);
	f->process = builder_process(b, PID);
	f->thread = builder_thread(b, f->process, PID + 1);
	builder_site(b, f->thread, SEG_KIND_MALLOC, 0x401000, 10, 1000, 1040);
	builder_site(b, f->thread, SEG_KIND_FREE, 0x402000, 4, 416, 0);
	builder_site(b, f->thread, SEG_KIND_REALLOC_GROWN, 0x403000, 2, 64, 0);
	builder_other(b, f->thread, SEG_KIND_NEW, 3, 30, 48);
	builder_row(b, f->thread)->sizes[6] = 13;
	builder_publish(b);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	segment_close(f->segment);
	snapshot_free(&f->snapshot);
	builder_destroy(f->builder);
	close(f->dirfd);
	builder_dir_remove(f->dir);
	free(f);
	return 0;
}

static int open_it(struct fixture *f)
{
	return segment_open(f->dirfd, f->builder->name, geteuid(), &f->segment);
}

static void read_it(struct fixture *f)
{
	if (!f->segment)
		assert_int_equal(open_it(f), 0);
	assert_int_equal(segment_read(f->segment, &f->snapshot), 0);
}

static const struct snapshot_thread *find_row(const struct fixture *f, uint32_t row)
{
	for (size_t i = 0; i < f->snapshot.thread_count; i++)
		if (f->snapshot.threads[i].row == row)
			return &f->snapshot.threads[i];
	return NULL;
}

static const struct seg_slot *find_slot(const struct fixture *f, uint32_t row, enum seg_kind kind,
					uint64_t address)
{
	const struct snapshot_thread *thread = find_row(f, row);

	for (uint32_t i = 0; thread && i < thread->slot_count; i++) {
		const struct seg_slot *slot = &f->snapshot.slots[thread->first_slot + i];

		if (slot->key == ((uint64_t)kind << SEG_KEY_SHIFT | address))
			return slot;
	}
	return NULL;
}

/* --- what is right --- */

static void reads_a_valid_segment(void **state)
{
	struct fixture *f = *state;
	const struct snapshot_thread *thread;
	const struct seg_slot *slot;

	read_it(f);
	assert_int_equal(f->snapshot.invalid, 0);
	assert_false(f->snapshot.torn);
	assert_int_equal(f->snapshot.process_count, 1);
	assert_int_equal(f->snapshot.processes[0].pid, PID);
	assert_int_equal(f->snapshot.thread_count, 3); /* shared, ended, ours */
	thread = find_row(f, f->thread);
	assert_non_null(thread);
	assert_true(thread->live);
	assert_int_equal(thread->tid, PID + 1);
	assert_int_equal(thread->serial, 1);
	assert_int_equal(thread->slot_count, 4);
	slot = find_slot(f, f->thread, SEG_KIND_MALLOC, 0x401000);
	assert_non_null(slot);
	assert_int_equal(slot->count, 10);
	assert_int_equal(slot->bytes, 1000);
	assert_int_equal(slot->more, 1040);
	slot = find_slot(f, f->thread, SEG_KIND_NEW, 0);
	assert_non_null(slot);
	assert_int_equal(slot->count, 3);
	assert_int_equal(f->snapshot.sizes[thread - f->snapshot.threads][6], 13);
	assert_true(f->snapshot.memory_bytes > 0);
}

static void sees_new_counts_in_the_next_read(void **state)
{
	struct fixture *f = *state;

	read_it(f);
	builder_site(f->builder, f->thread, SEG_KIND_MALLOC, 0x401000, 1, 5, 8);
	read_it(f);
	assert_int_equal(find_slot(f, f->thread, SEG_KIND_MALLOC, 0x401000)->count, 11);
}

static void reads_again_after_trim(void **state)
{
	struct fixture *f = *state;

	read_it(f);
	snapshot_trim(&f->snapshot);
	assert_null(f->snapshot.sizes);
	for (int i = 0; i < 40; i++)
		builder_thread(f->builder, f->process, 100 + i);
	read_it(f);
	assert_int_equal(f->snapshot.thread_count, 43);
	assert_int_equal(f->snapshot.sizes[2][6], 13);
	assert_int_equal(f->snapshot.sizes[42][6], 0);
}

static void knows_a_dead_thread_and_its_tid(void **state)
{
	struct fixture *f = *state;

	builder_thread_dies(f->builder, f->thread);
	read_it(f);
	assert_false(find_row(f, f->thread)->live);
	assert_int_equal(find_row(f, f->thread)->tid, PID + 1);
}

static void reads_modules(void **state)
{
	const uint8_t id[4] = {1, 2, 3, 4};
	struct fixture *f = *state;

	builder_module(f->builder, 0x400000, 0x500000, 0x400000, "/usr/bin/x", id, 4);
	read_it(f);
	assert_int_equal(f->snapshot.module_count, 1);
	assert_string_equal(f->snapshot.modules[0].path, "/usr/bin/x");
	assert_int_equal(f->snapshot.invalid, 0);
}

static void tells_whether_it_lives(void **state)
{
	struct fixture *f = *state;
	enum segment_life life;
	uint32_t second;

	assert_int_equal(open_it(f), 0);
	assert_int_equal(segment_probe(f->segment, &life), 0);
	assert_int_equal(life, SEGMENT_LIVE);
	builder_thread_dies(f->builder, f->thread);
	assert_int_equal(segment_probe(f->segment, &life), 0);
	assert_int_equal(life, SEGMENT_DEAD);
	second = builder_thread(f->builder, f->process, 77);
	assert_int_equal(segment_probe(f->segment, &life), 0);
	assert_int_equal(life, SEGMENT_LIVE);
	builder_thread_dies(f->builder, second);
	assert_int_equal(segment_probe(f->segment, &life), 0);
	assert_int_equal(life, SEGMENT_DEAD);
}

static void cannot_tell_without_threads(void **state)
{
	struct fixture *f = *state;
	struct builder *empty = builder_create(f->dir, 1, SIZE);
	enum segment_life life;

	builder_publish(empty);
	assert_int_equal(segment_open(f->dirfd, empty->name, geteuid(), &f->segment), 0);
	assert_int_equal(segment_probe(f->segment, &life), 0);
	assert_int_equal(life, SEGMENT_UNDECIDED);
	/* taken, but not held yet */
	memset(builder_row(empty, builder_thread(empty, builder_process(empty, 1), 5))->life, 0,
	       SEG_LIFE_SIZE);
	assert_int_equal(segment_probe(f->segment, &life), 0);
	assert_int_equal(life, SEGMENT_UNDECIDED);
	builder_destroy(empty);
}

/* --- files that are not to be opened --- */

static void refuses_what_is_not_ready(void **state)
{
	struct fixture *f = *state;

	f->builder->header->magic = 0;
	assert_int_equal(open_it(f), -EAGAIN);
	builder_publish(f->builder);
	assert_int_equal(open_it(f), 0);
}

static void make_file(struct fixture *f, const char *name, off_t size)
{
	int fd = openat(f->dirfd, name, O_RDWR | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
}

static void refuses_wrong_sizes(void **state)
{
	struct fixture *f = *state;

	make_file(f, "empty", 0);
	assert_int_equal(segment_open(f->dirfd, "empty", geteuid(), &f->segment), -EAGAIN);
	make_file(f, "small", SEG_SIZE_MIN - 1);
	assert_int_equal(segment_open(f->dirfd, "small", geteuid(), &f->segment), -EBADMSG);
	make_file(f, "large", (off_t)SEG_SIZE_MAX + 1);
	assert_int_equal(segment_open(f->dirfd, "large", geteuid(), &f->segment), -EBADMSG);
	f->builder->header->size = SIZE + 4096;
	assert_int_equal(open_it(f), -EBADMSG);
}

static void refuses_other_files(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(segment_open(f->dirfd, "nothing", geteuid(), &f->segment), -ENOENT);
	assert_int_equal(symlinkat(f->builder->name, f->dirfd, "link"), 0);
	assert_int_equal(segment_open(f->dirfd, "link", geteuid(), &f->segment), -EPERM);
	assert_int_equal(mkfifoat(f->dirfd, "fifo", 0600), 0);
	assert_int_equal(segment_open(f->dirfd, "fifo", geteuid(), &f->segment), -EPERM);
	assert_int_equal(segment_open(f->dirfd, ".", geteuid(), &f->segment), -EPERM);
	assert_int_equal(segment_open(f->dirfd, f->builder->name, geteuid() + 1, &f->segment),
			 -EPERM);
}

static void refuses_other_versions(void **state)
{
	struct fixture *f = *state;

	f->builder->header->version = SEG_VERSION + 1;
	assert_int_equal(open_it(f), -EBADMSG);
	f->builder->header->version = SEG_VERSION;
	f->builder->header->header_size = 64;
	assert_int_equal(open_it(f), -EBADMSG);
	f->builder->header->header_size = SEG_HEADER_SIZE;
	f->builder->header->magic ^= 1;
	assert_int_equal(open_it(f), -EBADMSG);
}

static void refuses_regions_outside(void **state)
{
	struct fixture *f = *state;
	struct seg_region *regions = f->builder->header->regions;

	for (int i = 0; i < SEG_REGIONS; i++) {
		const struct seg_region good = regions[i];
		const struct seg_region bad[] = {
			{0, good.size, 0, 0},
			{SIZE + 1, 0, 0, 0},
			{good.offset, SIZE, 0, 0},
			{good.offset, UINT64_MAX, 0, 0},
			{UINT64_MAX, 16, 0, 0},
			{UINT64_MAX - 4095, 8192, 0, 0},
			{good.offset, good.size, good.size, good.size + 1},
			{good.offset, good.size, good.size, UINT64_MAX},
		};

		for (size_t j = 0; j < sizeof(bad) / sizeof(bad[0]); j++) {
			regions[i] = bad[j];
			assert_int_equal(open_it(f), -EBADMSG);
		}
		regions[i] = good;
	}
	assert_int_equal(open_it(f), 0);
}

/* --- damage in a segment that was opened --- */

static void damaged_header_fails_the_read(void **state)
{
	struct fixture *f = *state;

	read_it(f);
	f->builder->header->regions[SEG_THREADS].used = UINT64_MAX;
	assert_int_equal(segment_read(f->segment, &f->snapshot), -EBADMSG);
	f->builder->header->regions[SEG_THREADS].used = 3 * sizeof(struct seg_thread);
	read_it(f);
	assert_non_null(find_slot(f, f->thread, SEG_KIND_MALLOC, 0x401000));
}

static void truncation_fails_the_read(void **state)
{
	struct fixture *f = *state;
	enum segment_life life;

	read_it(f);
	assert_int_equal(ftruncate(f->builder->fd, SIZE / 2), 0);
	assert_int_equal(segment_read(f->segment, &f->snapshot), -EBADMSG);
	assert_int_equal(segment_probe(f->segment, &life), -EBADMSG);
	assert_int_equal(ftruncate(f->builder->fd, 100), 0);
	assert_int_equal(segment_read(f->segment, &f->snapshot), -EBADMSG);
	assert_int_equal(ftruncate(f->builder->fd, 0), 0);
	assert_int_equal(segment_read(f->segment, &f->snapshot), -EAGAIN);
	assert_int_equal(ftruncate(f->builder->fd, SIZE), 0); /* for the builder's munmap */
}

static void bad_tables_are_left_out(void **state)
{
	struct fixture *f = *state;
	const struct seg_region *heap = &f->builder->header->regions[SEG_HEAP];
	const uint64_t words[] = {
		SEG_TABLE_WORD(heap->offset, 3, 1),		      /* too small */
		SEG_TABLE_WORD(heap->offset, 21, 1),		      /* too large */
		SEG_TABLE_WORD(heap->offset, 255, 1),		      /* a shift out of range */
		SEG_TABLE_WORD(heap->offset, 20, 1),		      /* over the end */
		SEG_TABLE_WORD(heap->offset + heap->size, 4, 1),      /* at the end */
		SEG_TABLE_WORD(heap->offset + heap->size - 64, 4, 1), /* over the end by little */
		SEG_TABLE_WORD(0, 4, 1),			      /* the header */
		SEG_TABLE_WORD(heap->offset - 64, 4, 1),	      /* before the heap */
		UINT64_MAX,
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		builder_row(f->builder, f->thread)->table = words[i];
		read_it(f);
		assert_int_equal(f->snapshot.invalid, 1);
		assert_int_equal(find_row(f, f->thread)->slot_count, 1); /* only `other` */
	}
}

static void unknown_kinds_are_left_out(void **state)
{
	struct fixture *f = *state;
	struct seg_thread *row = builder_row(f->builder, f->thread);
	struct seg_slot *slots =
		(void *)((char *)f->builder->header + SEG_TABLE_OFFSET(row->table));

	for (size_t i = 0; i < 64; i++)
		slots[i].key = (uint64_t)(13 + i) << SEG_KEY_SHIFT | 1;
	slots[5].key = 7; /* kind 0 */
	read_it(f);
	assert_int_equal(f->snapshot.invalid, 64);
	assert_int_equal(find_row(f, f->thread)->slot_count, 1);
}

static void unknown_states_are_left_out(void **state)
{
	struct fixture *f = *state;

	builder_row(f->builder, f->thread)->state = 99;
	read_it(f);
	assert_int_equal(f->snapshot.invalid, 1);
	assert_null(find_row(f, f->thread));
}

static void bad_modules_are_left_out(void **state)
{
	struct fixture *f = *state;
	struct seg_module *modules = (void *)((char *)f->builder->header +
					      f->builder->header->regions[SEG_MODULES].offset);

	for (int i = 0; i < 4; i++)
		builder_module(f->builder, 0x1000, 0x2000, 0, "/x", NULL, 0);
	modules[0].end = 0x1000;
	modules[1].build_id_size = SEG_BUILD_ID_MAX + 1;
	modules[2].path_size = UINT32_MAX;
	memset(modules[3].path, 'x', SEG_MODULE_PATH);
	modules[3].path_size = SEG_MODULE_PATH - 1;
	read_it(f);
	assert_int_equal(f->snapshot.invalid, 3);
	assert_int_equal(f->snapshot.module_count, 1);
	assert_int_equal(strlen(f->snapshot.modules[0].path), SEG_MODULE_PATH - 1);
}

/* Many rows that name one large table would cost their number times its size. */
static void one_table_of_many_rows_is_bounded(void **state)
{
	struct fixture *f = *state;
	const struct seg_region *heap = &f->builder->header->regions[SEG_HEAP];
	struct seg_slot *slots;
	uint32_t row;

	builder_grow_table(f->builder, f->thread, 13); /* 256 KiB of 512 or so */
	slots = (void *)((char *)f->builder->header +
			 SEG_TABLE_OFFSET(builder_row(f->builder, f->thread)->table));
	for (size_t i = 0; i < 1u << 13; i++)
		slots[i].key = (uint64_t)SEG_KIND_MALLOC << SEG_KEY_SHIFT | (i + 1);
	for (int i = 0; i < 200; i++) {
		row = builder_thread(f->builder, f->process, 500 + i);
		builder_row(f->builder, row)->table = builder_row(f->builder, f->thread)->table;
	}
	read_it(f);
	assert_true(f->snapshot.slot_count * sizeof(struct seg_slot) <= heap->size + 4096);
	assert_true(f->snapshot.invalid >= 198);
}

static void unending_fold_is_taken_and_marked(void **state)
{
	struct fixture *f = *state;

	f->builder->header->fold_seq = 7;
	read_it(f);
	assert_true(f->snapshot.torn);
	assert_int_equal(find_slot(f, f->thread, SEG_KIND_MALLOC, 0x401000)->count, 10);
	f->builder->header->fold_seq = 8;
	read_it(f);
	assert_false(f->snapshot.torn);
}

/* A thread that was killed while it changed its table leaves an odd generation for ever. */
static void odd_generation_of_a_dead_thread_is_final(void **state)
{
	struct fixture *f = *state;

	builder_row(f->builder, f->thread)->table |= SEG_TABLE_GENERATION;
	read_it(f);
	assert_true(f->snapshot.torn);
	builder_thread_dies(f->builder, f->thread);
	read_it(f);
	assert_false(f->snapshot.torn);
	assert_int_equal(find_slot(f, f->thread, SEG_KIND_MALLOC, 0x401000)->count, 10);
}

static void strings_without_end_are_cut(void **state)
{
	char small[4], text[8] = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'};

	(void)state;
	snapshot_string(small, sizeof(small), text, sizeof(text));
	assert_string_equal(small, "abc");
}

/* --- a writer at the same time --- */

struct writer {
	struct builder *builder;
	uint32_t thread, last; /* rows */
	atomic_bool stop;
};

static void set_count(struct writer *w, uint32_t row, uint64_t count)
{
	__atomic_store_n(&builder_row(w->builder, row)->other[SEG_KIND_FREE].count, count,
			 __ATOMIC_SEQ_CST);
}

static void step_fold_seq(struct writer *w)
{
	__atomic_add_fetch(&w->builder->header->fold_seq, 1, __ATOMIC_SEQ_CST);
}

/* Moves a count to and fro between two rows that the reader comes to at different times. */
static void *move_counts(void *opaque)
{
	struct writer *w = opaque;
	bool first = true;

	while (!atomic_load(&w->stop)) {
		step_fold_seq(w);
		set_count(w, first ? w->thread : w->last, 0);
		set_count(w, first ? w->last : w->thread, 100);
		step_fold_seq(w);
		first = !first;
		usleep(200);
	}
	return NULL;
}

static uint64_t count_frees(const struct fixture *f)
{
	uint64_t count = 0;

	for (size_t i = 0; i < f->snapshot.slot_count; i++)
		if (f->snapshot.slots[i].key == (uint64_t)SEG_KIND_FREE << SEG_KEY_SHIFT)
			count += f->snapshot.slots[i].count;
	return count;
}

static void never_shows_a_half_fold(void **state)
{
	struct fixture *f = *state;
	struct writer writer = {.builder = f->builder, .thread = f->thread};
	int whole = 0;
	pthread_t thread;

	for (int i = 0; i < 150; i++)
		writer.last = builder_thread(f->builder, f->process, 5000 + i);
	builder_other(f->builder, f->thread, SEG_KIND_FREE, 100, 0, 0);
	assert_int_equal(open_it(f), 0);
	pthread_create(&thread, NULL, move_counts, &writer);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(segment_read(f->segment, &f->snapshot), 0);
		if (f->snapshot.torn)
			continue;
		whole++;
		assert_int_equal(count_frees(f), 100);
	}
	atomic_store(&writer.stop, true);
	pthread_join(thread, NULL);
	assert_true(whole > 0);
}

static void *scribble(void *opaque)
{
	struct writer *w = opaque;
	uint64_t x = 88172645463325252u;

	while (!atomic_load(&w->stop)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		((volatile uint64_t *)w->builder->header)[8 + x % (SIZE / 8 - 8)] = x * x;
		if (x % 64 == 0)
			memcpy(&w->builder->header->regions[x / 64 % 4].used, &x, 2);
	}
	return NULL;
}

static void survives_a_scribbler(void **state)
{
	struct fixture *f = *state;
	struct writer writer = {.builder = f->builder};
	struct seg_header good = *f->builder->header;
	enum segment_life life;
	pthread_t thread;

	assert_int_equal(open_it(f), 0);
	pthread_create(&thread, NULL, scribble, &writer);
	for (int i = 0; i < 200; i++) {
		segment_read(f->segment, &f->snapshot);
		segment_probe(f->segment, &life);
		assert_true(f->snapshot.slot_count <=
			    SIZE / sizeof(struct seg_slot) + SEG_KINDS * f->snapshot.thread_count);
		if (i % 8 == 0)
			memcpy(f->builder->header, &good, sizeof(good));
	}
	atomic_store(&writer.stop, true);
	pthread_join(thread, NULL);
	memcpy(f->builder->header, &good, sizeof(good));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(reads_a_valid_segment),
		T(sees_new_counts_in_the_next_read),
		T(reads_again_after_trim),
		T(knows_a_dead_thread_and_its_tid),
		T(reads_modules),
		T(tells_whether_it_lives),
		T(cannot_tell_without_threads),
		T(refuses_what_is_not_ready),
		T(refuses_wrong_sizes),
		T(refuses_other_files),
		T(refuses_other_versions),
		T(refuses_regions_outside),
		T(damaged_header_fails_the_read),
		T(truncation_fails_the_read),
		T(bad_tables_are_left_out),
		T(unknown_kinds_are_left_out),
		T(unknown_states_are_left_out),
		T(bad_modules_are_left_out),
		T(one_table_of_many_rows_is_bounded),
		T(unending_fold_is_taken_and_marked),
		T(odd_generation_of_a_dead_thread_is_final),
		T(strings_without_end_are_cut),
		T(never_shows_a_half_fold),
		T(survives_a_scribbler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * segment_reader.c - copies a segment by pread and checks the copy.
 *
 * A walk goes over all rows and reads each row's table right after the row. It is void when
 * fold_seq was odd or changed meanwhile, a table is void when its word changed; both are tried
 * again a bounded number of times. What never settles (the folding process was killed) is taken as
 * it is and marked torn.
 *
 * Costs: 4 reads for a segment and 2 for each thread.
 */
#include "dashboard/segment_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	WALK_TRIES = 8,
	TABLE_TRIES = 4,
	PAUSES_MAX = 32,
	ROWS_AT_ONCE = 16,	 /* 14 KiB of stack */
	SLOTS_AT_ONCE = 512,	 /* 16 KiB of stack */
	PROCESSES_MAX = 1 << 16, /* `used` may lie about a hole: bounds what is read for it */
	MODULES_MAX = 1 << 14,
	SETTLE_NS = 30000, /* folding one row takes a few microseconds */
};

struct segment {
	int fd;
	uint32_t live_row; /* a row that was alive at the last probe; 0: none */
};

static uint64_t clock_now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int read_at(int fd, void *out, size_t size, uint64_t offset)
{
	char *at = out;

	while (size > 0) {
		ssize_t got = pread(fd, at, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EBADMSG; /* truncated since it was opened */
		at += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return 0;
}

static int check_header(const struct seg_header *header, uint64_t file_size)
{
	if (header->magic == 0)
		return -EAGAIN;
	if (header->magic != SEG_MAGIC || header->version != SEG_VERSION ||
	    header->header_size != SEG_HEADER_SIZE || header->size != file_size)
		return -EBADMSG;
	for (int i = 0; i < SEG_REGIONS; i++) {
		const struct seg_region *region = &header->regions[i];

		if (region->offset < SEG_HEADER_SIZE || region->offset > file_size ||
		    region->size > file_size - region->offset || region->used > region->size)
			return -EBADMSG;
	}
	return 0;
}

static int read_header(int fd, struct seg_header *out, struct stat *st)
{
	int err;

	if (fstat(fd, st) < 0)
		return -errno;
	if (st->st_size < (off_t)SEG_SIZE_MIN)
		return st->st_size == 0 ? -EAGAIN : -EBADMSG;
	if (st->st_size > (off_t)SEG_SIZE_MAX)
		return -EBADMSG;
	err = read_at(fd, out, sizeof(*out), 0);
	if (err)
		return err;
	return check_header(out, (uint64_t)st->st_size);
}

int segment_read_header(const struct segment *segment, struct seg_header *out)
{
	struct seg_header header;
	struct stat st;
	int err = read_header(segment->fd, &header, &st);

	if (!err)
		*out = header;
	return err;
}

int segment_open(int dirfd, const char *name, uid_t owner, struct segment **out)
{
	struct segment *segment = NULL;
	struct seg_header header;
	struct stat st;
	/* O_NONBLOCK: a FIFO of that name must not stop the server. */
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	if (fd < 0)
		return errno == ELOOP ? -EPERM : -errno;
	err = -EPERM;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != owner)
		goto cleanup;
	err = read_header(fd, &header, &st);
	if (err)
		goto cleanup;
	segment = calloc(1, sizeof(*segment));
	err = segment ? 0 : -ENOMEM;
	if (err)
		goto cleanup;
	segment->fd = fd;
	*out = segment;
	return 0;
cleanup:
	close(fd);
	return err;
}

void segment_close(struct segment *segment)
{
	if (!segment)
		return;
	close(segment->fd);
	free(segment);
}

static uint32_t life_word(const struct seg_thread *row, size_t index)
{
	uint32_t word;

	memcpy(&word, row->life + index * sizeof(word), sizeof(word));
	return word;
}

static bool row_live(const struct seg_thread *row)
{
	uint32_t word = life_word(row, 0);

	return row->state == SEG_THREAD_USED && !(word & SEG_LIFE_DIED) && SEG_LIFE_TID(word) != 0;
}

/* The kernel clears the tid when it marks the owner dead; pthread_mutex_t keeps it in its third
 * word, which is part of glibc's ABI. */
static int32_t row_tid(const struct seg_thread *row)
{
	uint32_t tid = SEG_LIFE_TID(life_word(row, 0));

	if (row->state == SEG_THREAD_ENDED || row->state == SEG_THREAD_SHARED)
		return 0;
	return (int32_t)(tid ? tid : SEG_LIFE_TID(life_word(row, 2)));
}

static uint32_t row_count(const struct seg_header *header)
{
	return (uint32_t)(header->regions[SEG_THREADS].used / sizeof(struct seg_thread));
}

static uint64_t row_offset(const struct seg_header *header, uint32_t row)
{
	return header->regions[SEG_THREADS].offset + (uint64_t)row * sizeof(struct seg_thread);
}

struct census {
	uint32_t live_row; /* 0: none */
	bool died;	   /* a thread existed and is gone */
	bool starting;	   /* a row is taken, its thread does not hold its life yet */
};

static void census_add(struct census *census, const struct seg_thread *row, uint32_t index)
{
	if (index <= SEG_ROW_ENDED)
		return;
	if (row_live(row))
		census->live_row = index;
	else if (row->state == SEG_THREAD_USED && life_word(row, 0) == 0)
		census->starting = true;
	else if (row->state != SEG_THREAD_FREE)
		census->died = true;
}

static int probe_rows(struct segment *segment, const struct seg_header *header,
		      struct census *census)
{
	struct seg_thread chunk[ROWS_AT_ONCE];
	uint32_t rows = row_count(header);

	for (uint32_t first = 0; first < rows && !census->live_row; first += ROWS_AT_ONCE) {
		uint32_t n = rows - first < ROWS_AT_ONCE ? rows - first : ROWS_AT_ONCE;
		int err = read_at(segment->fd, chunk, n * sizeof(struct seg_thread),
				  row_offset(header, first));

		if (err)
			return err;
		for (uint32_t i = 0; i < n && !census->live_row; i++)
			census_add(census, &chunk[i], first + i);
	}
	return 0;
}

int segment_probe(struct segment *segment, enum segment_life *out)
{
	struct census census = {0};
	struct seg_header header;
	struct seg_thread row;
	struct stat st;
	int err = read_header(segment->fd, &header, &st);

	if (err)
		return err;
	if (segment->live_row != 0 && segment->live_row < row_count(&header) &&
	    read_at(segment->fd, &row, sizeof(row), row_offset(&header, segment->live_row)) == 0 &&
	    row_live(&row)) {
		*out = SEGMENT_LIVE;
		return 0;
	}
	err = probe_rows(segment, &header, &census);
	if (err)
		return err;
	segment->live_row = census.live_row;
	if (census.live_row)
		*out = SEGMENT_LIVE;
	else
		*out = census.died && !census.starting ? SEGMENT_DEAD : SEGMENT_UNDECIDED;
	return 0;
}

static uint64_t table_size(uint64_t word)
{
	return (uint64_t)sizeof(struct seg_slot) << SEG_TABLE_LOG2(word);
}

/* Against the region's size, not `used`: a table may be newer than the header that was read. */
static bool table_valid(const struct seg_header *header, uint64_t word)
{
	const struct seg_region *heap = &header->regions[SEG_HEAP];
	uint64_t offset = SEG_TABLE_OFFSET(word);
	unsigned log2 = SEG_TABLE_LOG2(word);

	if (log2 < SEG_TABLE_LOG2_MIN || log2 > SEG_TABLE_LOG2_MAX)
		return false;
	return offset >= heap->offset && offset - heap->offset <= heap->size &&
	       table_size(word) <= heap->size - (offset - heap->offset);
}

static int read_table(struct segment *segment, struct snapshot *snapshot, uint64_t word)
{
	uint64_t offset = SEG_TABLE_OFFSET(word);
	size_t left = (size_t)1 << SEG_TABLE_LOG2(word);
	struct seg_slot chunk[SLOTS_AT_ONCE];

	while (left > 0) {
		size_t n = left < SLOTS_AT_ONCE ? left : SLOTS_AT_ONCE;
		int err = read_at(segment->fd, chunk, n * sizeof(struct seg_slot), offset);

		for (size_t i = 0; i < n && !err; i++)
			err = snapshot_add_slot(snapshot, &chunk[i]);
		if (err)
			return err;
		offset += n * sizeof(struct seg_slot);
		left -= n;
	}
	return 0;
}

/* Reads what one table holds; one that is no table, or too much for the budget, holds nothing. */
static int read_table_once(struct segment *segment, struct snapshot *snapshot, uint64_t word,
			   uint64_t budget)
{
	if (word == 0)
		return 0;
	if (table_valid(&snapshot->header, word) && table_size(word) <= budget)
		return read_table(segment, snapshot, word);
	snapshot->invalid++;
	return 0;
}

/* What all tables of one walk together may cost: many rows may name one table, or pretend to be in
 * the midst of a change. */
struct allowance {
	uint64_t bytes;
	unsigned pauses;
};

static void settle(struct allowance *allowance)
{
	const struct timespec pause = {0, SETTLE_NS};

	if (allowance->pauses == 0)
		return;
	allowance->pauses--;
	nanosleep(&pause, NULL);
}

/* Reads the sites of one row, which is read anew with them. */
static int read_sites(struct segment *segment, struct snapshot *snapshot, struct seg_thread *row,
		      uint64_t offset, struct allowance *allowance)
{
	size_t first = snapshot->slot_count;
	uint64_t invalid = snapshot->invalid;
	bool settled = false;
	uint64_t word = row->table;

	for (int try = 0; try < TABLE_TRIES && !settled; try++) {
		int err;

		if (try > 0)
			settle(allowance);
		word = row->table;
		snapshot->slot_count = first;
		snapshot->invalid = invalid;
		err = read_table_once(segment, snapshot, word, allowance->bytes);
		if (!err)
			err = read_at(segment->fd, row, sizeof(*row), offset);
		if (err)
			return err;
		settled = row->table == word && !(word & SEG_TABLE_GENERATION);
	}
	if (table_valid(&snapshot->header, word) && table_size(word) <= allowance->bytes)
		allowance->bytes -= table_size(word);
	/* A dead thread's table is what it is, though it may have died in the midst of a change. */
	if (!settled && row_live(row))
		snapshot->torn = true;
	return 0;
}

static int add_thread(struct segment *segment, struct snapshot *snapshot, struct seg_thread *row,
		      uint32_t index, struct allowance *allowance)
{
	size_t at = snapshot->thread_count;
	struct snapshot_thread *thread;
	int err;

	if (row->state == SEG_THREAD_FREE)
		return 0;
	if (row->state > SEG_THREAD_SHARED) {
		snapshot->invalid++;
		return 0;
	}
	thread = &snapshot->threads[at];
	*thread = (struct snapshot_thread){
		.row = index,
		.state = (uint8_t)row->state,
		.first_slot = (uint32_t)snapshot->slot_count,
	};
	if (row->state != SEG_THREAD_SHARED) {
		err = read_sites(segment, snapshot, row, row_offset(&snapshot->header, index),
				 allowance);
		if (err)
			return err;
	}
	err = snapshot_add_other(snapshot, row);
	if (err)
		return err;
	thread->serial = row->serial;
	thread->process = row->process;
	thread->tid = row_tid(row);
	thread->live = row_live(row) && thread->state == SEG_THREAD_USED;
	thread->slot_count = (uint32_t)(snapshot->slot_count - thread->first_slot);
	memcpy(snapshot->sizes[at], row->sizes, sizeof(row->sizes));
	snapshot->thread_count = at + 1;
	return 0;
}

static int read_threads(struct segment *segment, struct snapshot *snapshot)
{
	struct allowance allowance = {snapshot->header.regions[SEG_HEAP].size, PAUSES_MAX};
	uint32_t rows = row_count(&snapshot->header);
	struct seg_thread chunk[ROWS_AT_ONCE];
	int err;

	/* In steps: `used` alone must not make us allocate. */
	for (uint32_t first = 0; first < rows; first += ROWS_AT_ONCE) {
		uint32_t n = rows - first < ROWS_AT_ONCE ? rows - first : ROWS_AT_ONCE;

		err = snapshot_make_thread_room(snapshot, snapshot->thread_count + n);
		if (!err)
			err = read_at(segment->fd, chunk, n * sizeof(struct seg_thread),
				      row_offset(&snapshot->header, first));
		for (uint32_t i = 0; i < n && !err; i++)
			err = add_thread(segment, snapshot, &chunk[i], first + i, &allowance);
		if (err)
			return err;
	}
	return 0;
}

/* How many records of a plain region to read: `used` may lie about a hole. */
static size_t record_count(const struct seg_region *region, size_t size, size_t max)
{
	uint64_t used = region->used / size;

	return used < max ? (size_t)used : max;
}

static int read_processes(struct segment *segment, struct snapshot *snapshot)
{
	const struct seg_region *region = &snapshot->header.regions[SEG_PROCESSES];
	size_t n = record_count(region, sizeof(struct seg_process), PROCESSES_MAX);
	struct seg_process *processes;

	processes =
		snapshot_grow(snapshot->processes, &snapshot->process_room, n, sizeof(*processes));
	if (!processes)
		return -ENOMEM;
	snapshot->processes = processes;
	snapshot->process_count = n;
	return read_at(segment->fd, processes, n * sizeof(*processes), region->offset);
}

static bool module_valid(const struct seg_module *module)
{
	return module->start < module->end && module->build_id_size <= SEG_BUILD_ID_MAX &&
	       module->path_size < SEG_MODULE_PATH;
}

static int read_modules(struct segment *segment, struct snapshot *snapshot)
{
	const struct seg_region *region = &snapshot->header.regions[SEG_MODULES];
	size_t n = record_count(region, sizeof(struct seg_module), MODULES_MAX);
	struct seg_module *modules;
	int err;

	modules = snapshot_grow(snapshot->modules, &snapshot->module_room, n, sizeof(*modules));
	if (!modules)
		return -ENOMEM;
	snapshot->modules = modules;
	snapshot->module_count = 0;
	err = read_at(segment->fd, modules, n * sizeof(*modules), region->offset);
	for (size_t i = 0; i < n && !err; i++) {
		if (module_valid(&modules[i])) {
			modules[i].path[modules[i].path_size] = '\0';
			modules[snapshot->module_count++] = modules[i];
		} else if (modules[i].end != 0) { /* 0: not written yet */
			snapshot->invalid++;
		}
	}
	return err;
}

static int walk(struct segment *segment, struct snapshot *snapshot)
{
	int err;

	snapshot->thread_count = 0;
	snapshot->slot_count = 0;
	snapshot->invalid = 0;
	snapshot->torn = false;
	err = read_processes(segment, snapshot);
	if (!err)
		err = read_threads(segment, snapshot);
	if (!err)
		err = read_modules(segment, snapshot);
	return err;
}

static int settled(struct segment *segment, struct snapshot *snapshot)
{
	struct seg_header header;
	struct stat st;
	int err = read_header(segment->fd, &header, &st);

	if (err)
		return err;
	return !(header.fold_seq & 1) && header.fold_seq == snapshot->header.fold_seq;
}

int segment_read(struct segment *segment, struct snapshot *snapshot)
{
	const struct timespec pause = {0, SETTLE_NS};
	struct stat st;
	int err, done = 0;

	for (int try = 1; !done; try++) {
		err = read_header(segment->fd, &snapshot->header, &st);
		if (err)
			return err;
		if ((snapshot->header.fold_seq & 1) && try < WALK_TRIES) {
			nanosleep(&pause, NULL);
			continue;
		}
		snapshot->taken_ns = clock_now(CLOCK_REALTIME);
		snapshot->taken_mono_ns = clock_now(CLOCK_MONOTONIC);
		err = walk(segment, snapshot);
		if (err)
			return err;
		done = settled(segment, snapshot);
		if (done < 0)
			return done;
		if (!done && try >= WALK_TRIES) {
			snapshot->torn = true;
			done = 1;
		}
	}
	snapshot->memory_bytes = (uint64_t)st.st_blocks * 512;
	return 0;
}

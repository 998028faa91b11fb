/* SPDX-License-Identifier: MIT */
/*
 * segment_writer.c - the segment's file, memory and lock.
 *
 * Memory. A store into a hole of a tmpfs file that is full is a SIGBUS, which would kill the host.
 * So no byte is touched before MADV_POPULATE_WRITE has said that there is memory behind it; on
 * kernels older than 5.14 the whole file is allocated at the start.
 *
 * Lock. A robust, error-checking mutex in the segment: the kernel releases it when its holder
 * dies, and a signal handler that finds its own thread holding it is told so. It is waited for
 * only a short time, since the holder may be a process that was stopped by a debugger. What is
 * done under it can be cut off anywhere by SIGKILL, so every step leaves a usable segment behind;
 * only the free lists cannot be trusted then, and are given up.
 */
#include "agent/segment_writer.h"
#include "agent/base.h"
#include "agent/system.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define STEP_MAX     65536u /* memory is taken in steps that start at a page and double up to this */
#define LOCK_WAIT_NS 1000000000ull
#ifdef __SANITIZE_THREAD__
#define LOCK_CLOCK CLOCK_REALTIME
#else
#define LOCK_CLOCK CLOCK_MONOTONIC
#endif
#define LOCK_SHORT_WAIT_NS 2000000ull
#define LOCK_SPINS	   200

struct seg_header *segment;

_Static_assert(sizeof(pthread_mutex_t) <= SEG_LIFE_SIZE, "the mutex fits into the layout");

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) & ~(alignment - 1);
}

/* How the address space is divided: 3/8 thread rows, 1/64 each process rows and modules. */
static void lay_out(struct seg_region *regions, uint64_t size)
{
	uint64_t at = SEG_ALIGN;

	regions[SEG_PROCESSES].size = align_up(size / 64, SEG_ALIGN);
	regions[SEG_THREADS].size = align_up(size / 8 * 3, SEG_ALIGN);
	regions[SEG_MODULES].size = align_up(size / 64, SEG_ALIGN);
	for (int i = 0; i < SEG_REGIONS; i++) {
		regions[i].offset = at;
		if (i == SEG_HEAP)
			regions[i].size = size - at;
		at += regions[i].size;
	}
}

static bool populate(uint64_t offset, uint64_t bytes)
{
	int saved = errno;
	bool ok = !system_madvise(segment_at(offset), bytes, MADV_POPULATE_WRITE);

	errno = saved;
	return ok;
}

static uint64_t step_of(const struct seg_region *region)
{
	uint64_t page = getauxval(AT_PAGESZ);
	uint64_t step = region->populated;

	if (step > STEP_MAX)
		step = STEP_MAX;
	return step < page ? page : align_up(step, page);
}

bool segment_reserve(enum seg_region_id id, uint64_t bytes)
{
	struct seg_region *region = &segment->regions[id];
	uint64_t populated = region->populated;
	uint64_t want;

	if (HT_LIKELY(bytes <= populated))
		return true;
	if (bytes > region->size)
		return false;
	want = align_up(bytes, step_of(region));
	if (want > region->size)
		want = region->size;
	if (!populate(region->offset + populated, want - populated)) {
		segment_drop(SEG_DROP_MEMORY);
		return false;
	}
	region->populated = want;
	return true;
}

static uint64_t table_bytes(unsigned log2)
{
	return sizeof(struct seg_slot) << log2;
}

/* A free table's first key holds the offset of the next one: a word that the hot path never adds
 * to, not even one that a signal handler has kept from its addition since the table was in use. */
static uint64_t take_free(unsigned log2)
{
	uint64_t *list = &segment->free_blocks[log2 - SEG_TABLE_LOG2_MIN];
	uint64_t offset = *list;
	struct seg_slot *first;

	if (!offset)
		return 0;
	first = segment_at(offset);
	*list = first->key;
	return offset;
}

uint64_t segment_take_table(unsigned log2)
{
	struct seg_region *heap = &segment->regions[SEG_HEAP];
	uint64_t offset;

	if (log2 < SEG_TABLE_LOG2_MIN || log2 - SEG_TABLE_LOG2_MIN >= SEG_FREE_CLASSES)
		return 0;
	offset = take_free(log2);
	if (!offset) {
		uint64_t used = heap->used;

		if (!segment_reserve(SEG_HEAP, used + table_bytes(log2)))
			return 0;
		heap->used = used + table_bytes(log2);
		offset = heap->offset + used;
	}
	memset(segment_at(offset), 0, table_bytes(log2));
	return offset;
}

void segment_give_table(uint64_t offset, unsigned log2)
{
	uint64_t *list = &segment->free_blocks[log2 - SEG_TABLE_LOG2_MIN];
	struct seg_slot *first = segment_at(offset);

	first->key = *list;
	*list = offset;
}

static pthread_mutex_t *lock_of(void)
{
	return (pthread_mutex_t *)segment->lock;
}

/* Set by a wait that was in vain, until the lock is had again: a host waits long only once. */
static bool impatient;

static struct timespec deadline(uint64_t wait_ns)
{
	uint64_t until = now_ns(LOCK_CLOCK) + wait_ns;

	return (struct timespec){.tv_sec = (time_t)(until / 1000000000u),
				 .tv_nsec = (long)(until % 1000000000u)};
}

/* By a clock that nobody sets back. ThreadSanitizer of gcc 12 does not know that function. */
static int lock_until(const struct timespec *until)
{
#ifdef __SANITIZE_THREAD__
	return pthread_mutex_timedlock(lock_of(), until);
#else
	return pthread_mutex_clocklock(lock_of(), LOCK_CLOCK, until);
#endif
}

static int wait_for_lock(void)
{
	int err = pthread_mutex_trylock(lock_of());
	struct timespec until;

	if (err != EBUSY)
		return err;
	until = deadline(__atomic_load_n(&impatient, __ATOMIC_RELAXED) ? LOCK_SHORT_WAIT_NS
								       : LOCK_WAIT_NS);
	err = lock_until(&until);
	if (err == ETIMEDOUT)
		__atomic_store_n(&impatient, true, __ATOMIC_RELAXED);
	return err;
}

/* The holder died: its last step may have been half of a list operation. */
static void recover(void)
{
	memset(segment->free_blocks, 0, sizeof(segment->free_blocks));
	segment->fold_seq = (segment->fold_seq + 1) & ~1ull;
	pthread_mutex_consistent(lock_of());
	segment_drop(SEG_DROP_RECOVERED);
}

bool segment_lock(void)
{
	int err = wait_for_lock();

	if (err == EOWNERDEAD)
		recover();
	else if (err) {
		segment_drop(SEG_DROP_LOCK);
		return false;
	}
	__atomic_store_n(&impatient, false, __ATOMIC_RELAXED);
	return true;
}

void segment_break_lock(void)
{
	int err = pthread_mutex_trylock(lock_of());

	if (err == EDEADLK || err == EOWNERDEAD)
		recover();
	if (!err || err == EDEADLK || err == EOWNERDEAD)
		pthread_mutex_unlock(lock_of());
}

void segment_unlock(void)
{
	pthread_mutex_unlock(lock_of());
}

static void lock_create(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(lock_of(), &attributes);
	pthread_mutexattr_destroy(&attributes);
}

static int read_file(const char *path, char *to, size_t room)
{
	int fd = system_open(path, O_RDONLY | O_CLOEXEC, 0);
	ssize_t size;

	if (fd < 0)
		return 0;
	size = system_read(fd, to, room - 1);
	system_close(fd);
	return size > 0 ? (int)size : 0;
}

static void describe_host(void)
{
	ssize_t size = system_read_link("/proc/self/exe", segment->exe, sizeof(segment->exe) - 1);

	segment->exe[size > 0 ? size : 0] = '\0';
	size = read_file("/proc/self/cmdline", segment->cmdline, sizeof(segment->cmdline));
	for (ssize_t i = 0; i + 1 < size; i++)
		if (!segment->cmdline[i])
			segment->cmdline[i] = ' ';
}

static void fill_header(const struct config *config, uint64_t start)
{
	segment->version = SEG_VERSION;
	segment->header_size = SEG_HEADER_SIZE;
	segment->size = config->memory;
	segment->pid = system_getpid();
	segment->uid = system_geteuid();
	segment->start_boot_ns = start;
	segment->started_ns = now_ns(CLOCK_REALTIME);
	segment->flags = config->keep ? SEG_FLAG_KEEP : 0;
	lay_out(segment->regions, config->memory);
	memcpy(segment->problems, config->problems, sizeof(segment->problems));
	memcpy(segment->listen, config->listen, sizeof(segment->listen));
	memcpy(segment->token_file, config->token_file, sizeof(segment->token_file));
	describe_host();
	lock_create();
}

/* Memory for the header, and on old kernels for everything. */
static int back_header(int fd, uint64_t size)
{
	if (!system_madvise(segment, getauxval(AT_PAGESZ), MADV_POPULATE_WRITE))
		return 0;
	if (errno != EINVAL)
		return errno == EFAULT ? -ENOSPC : -errno;
	if (system_allocate(fd, (off_t)size))
		return -errno;
	return 1;
}

static void back_all(void)
{
	for (int i = 0; i < SEG_REGIONS; i++)
		segment->regions[i].populated = segment->regions[i].size;
}

static int map_file(int fd, const struct config *config, uint64_t start)
{
	struct rlimit limit;
	void *memory;
	int backed;

	/* ftruncate beyond this limit is a signal that kills */
	if (!system_limit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < config->memory)
		return -EFBIG;
	if (system_chmod(fd, 0600) || system_truncate(fd, (off_t)config->memory))
		return -errno;
	memory = system_map(config->memory, MAP_SHARED, fd);
	if (memory == MAP_FAILED)
		return -errno;
	segment = memory;
	backed = back_header(fd, config->memory);
	if (backed < 0) {
		segment = NULL;
		system_unmap(memory, config->memory);
		return backed;
	}
	fill_header(config, start);
	if (backed)
		back_all();
	return 0;
}

static void leave_mark(const char *dir, uint64_t start, int err)
{
	char path[512];
	const char *name = strerrorname_np(err);
	int fd;

	snprintf(path, sizeof(path), "%s/%d-%llx.failed.%s", dir, system_getpid(),
		 (unsigned long long)start, name ? name : "EIO");
	fd = system_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		system_close(fd);
}

int segment_create(const struct config *config, const char *dir)
{
	uint64_t start = now_ns(CLOCK_BOOTTIME);
	char path[512];
	int fd, err;

	snprintf(path, sizeof(path), "%s/%d-%llx.seg", dir, system_getpid(),
		 (unsigned long long)start);
	fd = system_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	err = fd < 0 ? -errno : map_file(fd, config, start);
	if (err < 0) {
		if (fd >= 0) {
			system_unlink_at(AT_FDCWD, path);
			system_close(fd);
		}
		leave_mark(dir, start, -err);
		return err;
	}
	system_close(fd);
	return 0;
}

void segment_publish(void)
{
	__atomic_store_n(&segment->magic, SEG_MAGIC, __ATOMIC_RELEASE);
}

/* SPDX-License-Identifier: MIT */
/*
 * segment_builder.c - see segment_builder.h. It follows the words of agent/segment.h, not the
 * agent's code, so that reader and agent are held to the same text.
 */
#include "tests/unit/segment_builder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

static uint64_t clock_now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

char *builder_dir_create(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = malloc(256);

	must(dir != NULL, "malloc");
	snprintf(dir, 256, "%s/heaptap-test-XXXXXX", tmp ? tmp : "/tmp");
	must(mkdtemp(dir) != NULL, dir);
	return dir;
}

void builder_dir_remove(char *dir)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;

	must(stream != NULL, dir);
	while ((entry = readdir(stream)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(stream), entry->d_name, 0);
	closedir(stream);
	must(rmdir(dir) == 0, dir);
	free(dir);
}

static void lay_out(struct seg_region *regions, uint64_t size)
{
	const uint64_t shares[SEG_REGIONS] = {size / 16, size / 4, size / 16, 0};
	uint64_t at = SEG_ALIGN;

	for (int i = 0; i < SEG_REGIONS; i++) {
		uint64_t share = (shares[i] + SEG_ALIGN - 1) & ~(uint64_t)(SEG_ALIGN - 1);

		regions[i].offset = at;
		regions[i].size = i == SEG_HEAP ? size - at : share;
		regions[i].populated = regions[i].size;
		at += regions[i].size;
	}
}

static void *at_offset(struct builder *builder, uint64_t offset)
{
	return (char *)builder->header + offset;
}

/* Takes `size` bytes of a region; returns their offset in the segment. */
static uint64_t take(struct builder *builder, enum seg_region_id id, uint64_t size)
{
	struct seg_region *region = &builder->header->regions[id];
	uint64_t at = region->used;

	must(at + size <= region->size, "segment_builder: region full");
	region->used = at + size;
	return region->offset + at;
}

struct builder *builder_create(const char *dir, int32_t pid, uint64_t size)
{
	static uint64_t last; /* two segments of one pid must differ */
	uint64_t start = clock_now(CLOCK_BOOTTIME);
	struct builder *builder = calloc(1, sizeof(*builder));
	struct seg_header *header;

	must(builder != NULL, "calloc");
	start = start <= last ? last + 1 : start;
	last = start;
	builder->tables_room = 6;
	builder->size = size;
	snprintf(builder->id, sizeof(builder->id), "%d-%llx", pid, (unsigned long long)start);
	snprintf(builder->name, sizeof(builder->name), "%s.seg", builder->id);
	snprintf(builder->path, sizeof(builder->path), "%s/%s", dir, builder->name);
	builder->fd = open(builder->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	must(builder->fd >= 0, builder->path);
	must(ftruncate(builder->fd, (off_t)size) == 0, "ftruncate");
	header = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, builder->fd, 0);
	must(header != MAP_FAILED, "mmap");
	builder->header = header;
	header->version = SEG_VERSION;
	header->header_size = SEG_HEADER_SIZE;
	header->size = size;
	header->pid = pid;
	header->uid = geteuid();
	header->start_boot_ns = start;
	header->started_ns = clock_now(CLOCK_REALTIME);
	lay_out(header->regions, size);
	strcpy(header->exe, "/usr/bin/example");
	strcpy(header->cmdline, "example --port 1");
	take(builder, SEG_THREADS, 2 * sizeof(struct seg_thread));
	builder_row(builder, SEG_ROW_SHARED)->state = SEG_THREAD_SHARED;
	builder_row(builder, SEG_ROW_ENDED)->state = SEG_THREAD_ENDED;
	return builder;
}

void builder_publish(struct builder *builder)
{
	__atomic_store_n(&builder->header->magic, SEG_MAGIC, __ATOMIC_RELEASE);
}

void builder_destroy(struct builder *builder)
{
	if (!builder)
		return;
	munmap(builder->header, builder->size);
	close(builder->fd);
	free(builder);
}

struct seg_thread *builder_row(struct builder *builder, uint32_t row)
{
	uint64_t offset = builder->header->regions[SEG_THREADS].offset;

	return (struct seg_thread *)at_offset(builder, offset) + row;
}

struct seg_process *builder_process_row(struct builder *builder, uint32_t process)
{
	uint64_t offset = builder->header->regions[SEG_PROCESSES].offset;

	return (struct seg_process *)at_offset(builder, offset) + process;
}

uint32_t builder_process(struct builder *builder, int32_t pid)
{
	struct seg_region *region = &builder->header->regions[SEG_PROCESSES];
	uint32_t index = (uint32_t)(region->used / sizeof(struct seg_process));
	struct seg_process *process;

	take(builder, SEG_PROCESSES, sizeof(struct seg_process));
	process = builder_process_row(builder, index);
	process->pid = pid;
	process->started_ns = clock_now(CLOCK_REALTIME);
	process->state = SEG_PROCESS_USED;
	builder->header->processes_started++;
	return index;
}

static uint32_t new_row(struct builder *builder, uint32_t process)
{
	struct seg_region *region = &builder->header->regions[SEG_THREADS];
	uint32_t index = (uint32_t)(region->used / sizeof(struct seg_thread));

	take(builder, SEG_THREADS, sizeof(struct seg_thread));
	builder_row(builder, index)->process = process;
	return index;
}

uint32_t builder_thread(struct builder *builder, uint32_t process, int32_t tid)
{
	uint32_t index = new_row(builder, process);
	struct seg_thread *row = builder_row(builder, index);
	const uint32_t life[3] = {(uint32_t)tid, 0, (uint32_t)tid};

	row->serial = ++builder->header->threads_started;
	builder_process_row(builder, process)->threads_started++;
	memcpy(row->life, life, sizeof(life));
	row->state = SEG_THREAD_USED;
	return index;
}

uint32_t builder_ended_row(struct builder *builder, uint32_t process)
{
	uint32_t index = new_row(builder, process);

	builder_row(builder, index)->state = SEG_THREAD_ENDED;
	builder_process_row(builder, process)->ended_row = index;
	return index;
}

void builder_thread_dies(struct builder *builder, uint32_t row)
{
	const uint32_t word = SEG_LIFE_DIED; /* the kernel clears the tid */

	memcpy(builder_row(builder, row)->life, &word, sizeof(word));
}

uint32_t builder_module(struct builder *builder, uint64_t start, uint64_t end, uint64_t bias,
			const char *path, const uint8_t *build_id, uint32_t build_id_size)
{
	struct seg_region *region = &builder->header->regions[SEG_MODULES];
	uint32_t index = (uint32_t)(region->used / sizeof(struct seg_module));
	struct seg_module *module =
		at_offset(builder, take(builder, SEG_MODULES, sizeof(struct seg_module)));

	module->start = start;
	module->end = end;
	module->bias = bias;
	module->path_size = (uint32_t)strlen(path);
	memcpy(module->path, path, strlen(path));
	module->build_id_size = build_id_size;
	if (build_id_size > 0)
		memcpy(module->build_id, build_id, build_id_size);
	return index;
}

static struct seg_slot *find_slot(struct builder *builder, uint32_t row, uint64_t key)
{
	uint64_t word = builder_row(builder, row)->table;
	struct seg_slot *slots = at_offset(builder, SEG_TABLE_OFFSET(word));
	size_t size = word ? (size_t)1 << SEG_TABLE_LOG2(word) : 0;

	for (size_t i = 0, at = key * 0x9e3779b97f4a7c15u >> 32; i < size; i++, at++)
		if (slots[at & (size - 1)].key == key || slots[at & (size - 1)].key == 0)
			return &slots[at & (size - 1)];
	return NULL;
}

static void add_to_slot(struct builder *builder, uint32_t row, const struct seg_slot *add)
{
	struct seg_slot *slot = find_slot(builder, row, add->key);

	must(slot != NULL, "segment_builder: table full");
	builder_row(builder, row)->slots += slot->key == 0;
	slot->count += add->count;
	slot->bytes += add->bytes;
	slot->more += add->more;
	slot->key = add->key;
}

void builder_grow_table(struct builder *builder, uint32_t row, unsigned log2)
{
	struct seg_thread *thread = builder_row(builder, row);
	uint64_t word = thread->table;
	const struct seg_slot *old = at_offset(builder, SEG_TABLE_OFFSET(word));
	size_t old_size = word ? (size_t)1 << SEG_TABLE_LOG2(word) : 0;
	uint64_t offset = take(builder, SEG_HEAP, sizeof(struct seg_slot) << log2);

	thread->slots = 0;
	thread->table = SEG_TABLE_WORD(offset, log2, (word >> SEG_TABLE_GENERATION_SHIFT) + 2);
	for (size_t i = 0; i < old_size; i++)
		if (old[i].key)
			add_to_slot(builder, row, &old[i]);
}

void builder_site(struct builder *builder, uint32_t row, enum seg_kind kind, uint64_t address,
		  uint64_t count, uint64_t bytes, uint64_t more)
{
	const struct seg_slot slot = {(uint64_t)kind << SEG_KEY_SHIFT | address, count, bytes,
				      more};
	struct seg_thread *thread = builder_row(builder, row);

	if (!thread->table)
		builder_grow_table(builder, row, (unsigned)builder->tables_room);
	else if (thread->slots + 1 > (5ull << SEG_TABLE_LOG2(thread->table)) / 8)
		builder_grow_table(builder, row, SEG_TABLE_LOG2(thread->table) + 1);
	add_to_slot(builder, row, &slot);
}

void builder_other(struct builder *builder, uint32_t row, enum seg_kind kind, uint64_t count,
		   uint64_t bytes, uint64_t more)
{
	struct seg_tally *tally = &builder_row(builder, row)->other[kind];

	tally->count += count;
	tally->bytes += bytes;
	tally->more += more;
}

static void fold_table(struct builder *builder, uint32_t to, struct seg_thread *from)
{
	const struct seg_slot *slots = at_offset(builder, SEG_TABLE_OFFSET(from->table));
	size_t size = from->table ? (size_t)1 << SEG_TABLE_LOG2(from->table) : 0;

	for (size_t i = 0; i < size; i++)
		if (slots[i].key)
			builder_site(builder, to, (enum seg_kind)(slots[i].key >> SEG_KEY_SHIFT),
				     slots[i].key & SEG_KEY_ADDRESS, slots[i].count, slots[i].bytes,
				     slots[i].more);
}

void builder_fold(struct builder *builder, uint32_t to, uint32_t from)
{
	struct seg_thread *row = builder_row(builder, from);

	builder->header->fold_seq |= 1;
	row->state = SEG_THREAD_FOLDING;
	fold_table(builder, to, row);
	for (int kind = 0; kind < SEG_KINDS; kind++)
		builder_other(builder, to, (enum seg_kind)kind, row->other[kind].count,
			      row->other[kind].bytes, row->other[kind].more);
	for (unsigned i = 0; i < SEG_SIZE_CLASSES; i++)
		builder_row(builder, to)->sizes[i] += row->sizes[i];
	builder_process_row(builder, row->process)->threads_folded++;
	memset(row, 0, sizeof(*row)); /* state FREE */
	builder->header->fold_seq++;
}

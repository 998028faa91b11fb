/* SPDX-License-Identifier: MIT */
/*
 * segment_builder.h - makes segments for tests: valid ones by these functions, damaged ones by
 * writing into them afterwards.
 *
 * A segment is a file that is mapped, so what a test changes in it a reader sees at once, as with
 * a real agent. Everything that cannot fail in a working test environment aborts when it does.
 *
 *	char *dir = builder_dir_create();
 *	struct builder *b = builder_create(dir, 1234, 1 << 20);
 *	uint32_t process = builder_process(b, 1234);
 *	uint32_t thread = builder_thread(b, process, 1234);
 *	builder_site(b, thread, SEG_KIND_MALLOC, 0x401000, 10, 1000, 1040);
 *	builder_publish(b);
 */
#pragma once

#include "agent/segment.h"

#include <stddef.h>

struct builder {
	struct seg_header *header; /* the mapped file */
	uint64_t size;
	int fd;
	char path[256];
	char name[64];	      /* of the file, without the directory */
	char id[48];	      /* the same without ".seg" */
	uint64_t tables_room; /* log2 of new tables; 6 at first */
};

/* A fresh directory, mode 0700, to be given to builder_dir_remove, which removes it with the files
 * in it. */
char *builder_dir_create(void);
void builder_dir_remove(char *dir);

/* A segment of `size` bytes with the rows SHARED and ENDED, without magic: not ready yet. */
struct builder *builder_create(const char *dir, int32_t pid, uint64_t size);
void builder_publish(struct builder *builder); /* writes the magic */
void builder_destroy(struct builder *builder); /* leaves the file; accepts NULL */

/* Rows; each returns its index. */
uint32_t builder_process(struct builder *builder, int32_t pid);
uint32_t builder_thread(struct builder *builder, uint32_t process, int32_t tid); /* alive */
uint32_t builder_ended_row(struct builder *builder, uint32_t process); /* of that process */
uint32_t builder_module(struct builder *builder, uint64_t start, uint64_t end, uint64_t bias,
			const char *path, const uint8_t *build_id, uint32_t build_id_size);

struct seg_thread *builder_row(struct builder *builder, uint32_t row);
struct seg_process *builder_process_row(struct builder *builder, uint32_t process);
void builder_thread_dies(struct builder *builder, uint32_t row); /* as the kernel marks it */

/* Gives the row a table of 2^log2 empty slots, moving those that it has. */
void builder_grow_table(struct builder *builder, uint32_t row, unsigned log2);

/* Adds to the slot of (kind, address), making it where there is none. */
void builder_site(struct builder *builder, uint32_t row, enum seg_kind kind, uint64_t address,
		  uint64_t count, uint64_t bytes, uint64_t more);
/* Adds to the row's calls without a site. */
void builder_other(struct builder *builder, uint32_t row, enum seg_kind kind, uint64_t count,
		   uint64_t bytes, uint64_t more);

/* Moves all counts of `from` into the row `to` and frees it, as the agent does. */
void builder_fold(struct builder *builder, uint32_t to, uint32_t from);

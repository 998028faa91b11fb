/* SPDX-License-Identifier: MIT */
/*
 * make_seeds.c - writes the seeds of the fuzzers: packed segments and small ELF files that are
 *valid.
 *
 *	make_seeds CORPUS	with the folders CORPUS/segment and CORPUS/elf
 */
#include "tests/unit/elf_builder.h"
#include "tests/fuzz/packed.h"
#include "tests/unit/segment_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64, FIRST_THREAD = 2 }; /* equal bytes of a chunk end a piece */

/* Writes what differs from `old` (all zeros at first), in pieces without holes. */
static void pack(FILE *out, const uint8_t *bytes, uint8_t *old)
{
	size_t at = 0;

	while (at < PACKED_SIZE) {
		struct packed_piece piece = {(uint32_t)(at / 8), 0};
		size_t end = at;

		while (end < PACKED_SIZE && memcmp(bytes + end, old + end, CHUNK) != 0)
			end += CHUNK;
		if (end == at) {
			at += CHUNK;
			continue;
		}
		piece.size = (uint32_t)((end - at) / 8);
		fwrite(&piece, sizeof(piece), 1, out);
		fwrite(bytes + at, 1, end - at, out);
		memcpy(old + at, bytes + at, end - at);
		at = end;
	}
}

static void again(FILE *out)
{
	const struct packed_piece mark = {PACKED_AGAIN, 0};

	fwrite(&mark, sizeof(mark), 1, out);
}

static void fill(struct builder *b)
{
	const uint8_t id[4] = {1, 2, 3, 4};
	uint32_t process = builder_process(b, 100), child = builder_process(b, 101);
	uint32_t one = builder_thread(b, process, 100), two = builder_thread(b, child, 101);

	b->tables_room = 4;
	for (int kind = SEG_KIND_MALLOC; kind <= SEG_KIND_REALLOC_GROWN; kind++) {
		builder_site(b, kind % 2 ? one : two, (enum seg_kind)kind, 0x401000, 3, 300, 330);
		builder_other(b, one, (enum seg_kind)kind, 1, 2, 3);
	}
	builder_other(b, SEG_ROW_SHARED, SEG_KIND_MALLOC, 5, 50, 60);
	builder_site(b, builder_ended_row(b, child), SEG_KIND_NEW, 0x402000, 9, 90, 99);
	builder_module(b, 0x400000, 0x500000, 0x400000, "/usr/bin/x", id, 4);
	b->header->problems[0] = (struct seg_problem){SEG_PROBLEM_SETTING, 0, "HEAPTAP_KEEP=2"};
	b->header->exe[8] = '\0';
	/* CLOCK values would make every seed differ */
	b->header->started_ns = b->header->start_boot_ns = 1;
	builder_process_row(b, process)->started_ns = builder_process_row(b, child)->started_ns = 1;
}

static void change(struct builder *b, int how)
{
	if (how == 1)
		builder_site(b, FIRST_THREAD, SEG_KIND_MALLOC, 0x405000, 3, 300, 330);
	if (how == 2)
		builder_fold(b, SEG_ROW_ENDED, FIRST_THREAD);
	if (how == 3)
		builder_grow_table(b, FIRST_THREAD, 6);
	if (how == 4)
		b->header->regions[SEG_THREADS].used = 0;
}

static FILE *open_seed(const char *path)
{
	FILE *out = fopen(path, "w");

	if (out)
		return out;
	perror(path);
	exit(1);
}

static void make_elf_seed(const char *to, uint32_t table)
{
	struct elf_builder m;
	char path[512];
	FILE *out;

	elf_builder_init(&m, table);
	elf_builder_symbol(&m, "__malloc", 0x2000, 0x20, STB_GLOBAL, STT_FUNC);
	elf_builder_symbol(&m, "malloc@@V1", 0x2000, 0x20, STB_GLOBAL, STT_FUNC);
	elf_builder_symbol(&m, "_ZN3foo3barEi", 0x2100, 0, STB_WEAK, STT_FUNC);
	elf_builder_symbol(&m, "_RNvC6_123foo3bar", 0x2200, 8, STB_LOCAL, STT_NOTYPE);
	elf_builder_symbol(&m, "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", 0x2300, 8,
			   STB_LOCAL, STT_GNU_IFUNC);
	snprintf(path, sizeof(path), "%s/elf/valid-%u", to, table);
	out = open_seed(path);
	fwrite(&m.elf, sizeof(m.elf), 1, out);
	fclose(out);
}

static void make_seed(const char *to, char *dir, int how)
{
	struct builder *b = builder_create(dir, 100, PACKED_SIZE);
	uint8_t *old = calloc(1, PACKED_SIZE);
	char path[512];
	FILE *out;

	if (!old)
		exit(1);
	snprintf(path, sizeof(path), "%s/segment/valid-%d", to, how);
	out = open_seed(path);
	fill(b);
	builder_publish(b);
	pack(out, (const uint8_t *)b->header, old);
	if (how > 0) {
		again(out);
		change(b, how);
		pack(out, (const uint8_t *)b->header, old);
	}
	fclose(out);
	free(old);
	builder_destroy(b);
}

int main(int argc, char **argv)
{
	char *dir;

	if (argc != 2) {
		fprintf(stderr, "usage: make_seeds CORPUS\n");
		return 2;
	}
	dir = builder_dir_create();
	for (int how = 0; how <= 4; how++)
		make_seed(argv[1], dir, how);
	builder_dir_remove(dir);
	make_elf_seed(argv[1], SHT_SYMTAB);
	make_elf_seed(argv[1], SHT_DYNSYM);
	return 0;
}

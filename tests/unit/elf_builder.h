/* SPDX-License-Identifier: MIT */
/*
 * elf_builder.h - a small ELF64 file in memory: one code section, one symbol table, a build-id.
 *
 * Right as it is made; tests damage its fields.
 */
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT = 1, SYMBOLS, STRINGS, NOTE, SECTIONS };

struct small_elf {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[SECTIONS];
	struct {
		Elf64_Nhdr head;
		char name[4];
		uint8_t id[20];
	} note;
	char strings[512];
	Elf64_Sym symbols[32];
};

struct elf_builder {
	struct small_elf elf;
	size_t strings, symbols;
};

/* `table` is SHT_SYMTAB or SHT_DYNSYM. */
void elf_builder_init(struct elf_builder *m, uint32_t table);
void elf_builder_symbol(struct elf_builder *m, const char *name, uint64_t value, uint64_t size,
			int bind, int type);

/* SPDX-License-Identifier: MIT */
/*
 * elf_builder.c - see elf_builder.h.
 */
#include "tests/unit/elf_builder.h"

#include <string.h>

void elf_builder_symbol(struct elf_builder *m, const char *name, uint64_t value, uint64_t size,
			int bind, int type)
{
	m->elf.symbols[m->symbols++] = (Elf64_Sym){
		.st_name = (Elf64_Word)m->strings,
		.st_info = (unsigned char)ELF64_ST_INFO(bind, type),
		.st_shndx = TEXT,
		.st_value = value,
		.st_size = size,
	};
	strcpy(m->elf.strings + m->strings, name);
	m->strings += strlen(name) + 1;
}

void elf_builder_init(struct elf_builder *m, uint32_t table)
{
	struct small_elf *elf = &m->elf;

	memset(m, 0, sizeof(*m));
	memcpy(elf->header.e_ident, ELFMAG, SELFMAG);
	elf->header.e_ident[EI_CLASS] = ELFCLASS64;
	elf->header.e_ident[EI_DATA] =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	elf->header.e_type = ET_DYN;
	elf->header.e_phoff = offsetof(struct small_elf, segment);
	elf->header.e_phentsize = sizeof(Elf64_Phdr);
	elf->header.e_phnum = 1;
	elf->header.e_shoff = offsetof(struct small_elf, sections);
	elf->header.e_shentsize = sizeof(Elf64_Shdr);
	elf->header.e_shnum = SECTIONS;
	elf->segment = (Elf64_Phdr){.p_type = PT_NOTE,
				    .p_offset = offsetof(struct small_elf, note),
				    .p_filesz = sizeof(elf->note),
				    .p_align = 4};
	elf->sections[TEXT] =
		(Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addr = 0x1000, .sh_size = 0x400000};
	elf->sections[SYMBOLS] = (Elf64_Shdr){.sh_type = table,
					      .sh_offset = offsetof(struct small_elf, symbols),
					      .sh_size = sizeof(elf->symbols),
					      .sh_entsize = sizeof(Elf64_Sym),
					      .sh_link = STRINGS};
	elf->sections[STRINGS] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
					      .sh_offset = offsetof(struct small_elf, strings),
					      .sh_size = sizeof(elf->strings)};
	elf->sections[NOTE].sh_type = SHT_NULL;
	elf->note.head = (Elf64_Nhdr){4, 20, NT_GNU_BUILD_ID};
	memcpy(elf->note.name, "GNU", 4);
	memset(elf->note.id, 0xab, sizeof(elf->note.id));
	m->strings = 1;
	m->symbols = 1;
}

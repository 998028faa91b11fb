/* SPDX-License-Identifier: MIT */
/*
 * elf_file.h - build-id and functions of an ELF64 file of this machine's byte order.
 *
 * Everything in the file is checked. It is read by pread, never mapped: a file that is truncated
 * while it is mapped is a SIGBUS. Functions return 0 or -errno (-ENOEXEC: not such a file, -ENOENT:
 * it has no such table, -EFBIG: more than the memory allowed, -EBADMSG: damaged) and leave
 * out-parameters untouched on failure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX 64

struct elf_file;

enum elf_table { ELF_SYMTAB, ELF_DYNSYM };

struct elf_function {
	uint64_t start; /* st_value */
	uint32_t size;
	uint32_t name; /* offset in `names` */
};

struct elf_functions { /* sorted by start, one for each */
	struct elf_function *functions;
	size_t count;
	char *names;
	size_t names_size;
};

/* Takes `fd` over, also on failure. */
int elf_file_open(int fd, struct elf_file **out);
void elf_file_close(struct elf_file *file); /* accepts NULL */

/* Returns its size; 0: it has none. */
size_t elf_file_build_id(struct elf_file *file, uint8_t out[ELF_BUILD_ID_MAX]);

/* `memory` bounds both what is kept and what is needed meanwhile. */
int elf_file_functions(struct elf_file *file, enum elf_table table, size_t memory,
		       struct elf_functions *out);
void elf_functions_free(struct elf_functions *functions);

/* The function that holds `address`, or NULL. */
const struct elf_function *elf_functions_find(const struct elf_functions *functions,
					      uint64_t address);

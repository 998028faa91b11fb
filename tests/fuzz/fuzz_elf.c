/* SPDX-License-Identifier: MIT */
/*
 * fuzz_elf.c - any bytes as an ELF file: build-id, both symbol tables, lookups, demangling of the
 * names that were found.
 */
#include "dashboard/demangle.h"
#include "dashboard/elf_file.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEMORY = 1 << 20, NAMES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct elf_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++) {
		const struct elf_function *function = &functions->functions[i];

		if (i > 0 && function[-1].start >= function->start)
			abort();
		if (function->name >= functions->names_size)
			abort();
		elf_functions_find(functions, function->start - 1);
		elf_functions_find(functions, function->start + function->size);
		if (function->size > 0 &&
		    elf_functions_find(functions, function->start) != function)
			abort();
		if (i < NAMES)
			free(demangle(functions->names + function->name));
	}
}

static void read_table(struct elf_file *file, enum elf_table table)
{
	struct elf_functions functions;

	if (elf_file_functions(file, table, MEMORY, &functions) < 0)
		return;
	look_up(&functions);
	elf_functions_free(&functions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t build_id[ELF_BUILD_ID_MAX];
	int fd = memfd_create("elf", MFD_CLOEXEC);
	struct elf_file *file;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (elf_file_open(fd, &file) < 0)
		return 0;
	elf_file_build_id(file, build_id);
	read_table(file, ELF_SYMTAB);
	read_table(file, ELF_DYNSYM);
	elf_file_close(file);
	return 0;
}

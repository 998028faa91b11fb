/* SPDX-License-Identifier: MIT */
/*
 * test_symbols.c - names from real objects (this program, libc) and from small ELF files made
 * here, right and damaged ones.
 */
#include "dashboard/demangle.h"
#include "dashboard/elf_file.h"
#include "dashboard/symbols.h"
#include "tests/unit/elf_builder.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static int as_file(const void *bytes, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	return fd;
}

static int functions_of(const struct elf_builder *m, enum elf_table table,
			struct elf_functions *out)
{
	struct elf_file *file;
	int err = elf_file_open(as_file(&m->elf, sizeof(m->elf)), &file);

	if (err)
		return err;
	err = elf_file_functions(file, table, 1 << 20, out);
	elf_file_close(file);
	return err;
}

static const char *name_at(const struct elf_functions *functions, uint64_t address)
{
	const struct elf_function *found = elf_functions_find(functions, address);

	return found ? functions->names + found->name : NULL;
}

/* --- which symbol --- */

static void finds_only_inside_of_functions(void **state)
{
	struct elf_functions functions;
	struct elf_builder m;

	(void)state;
	elf_builder_init(&m, SHT_SYMTAB);
	elf_builder_symbol(&m, "second", 0x2000, 0x10, STB_GLOBAL, STT_FUNC);
	elf_builder_symbol(&m, "first", 0x1000, 0x20, STB_LOCAL, STT_FUNC);
	elf_builder_symbol(&m, "object", 0x3000, 0x20, STB_GLOBAL, STT_OBJECT);
	elf_builder_symbol(&m, "resolver", 0x4000, 0x20, STB_GLOBAL, STT_GNU_IFUNC);
	elf_builder_symbol(&m, "assembler", 0x5000, 0x20, STB_GLOBAL, STT_NOTYPE);
	elf_builder_symbol(&m, "label", 0x6000, 0, STB_LOCAL, STT_NOTYPE);
	assert_int_equal(functions_of(&m, ELF_SYMTAB, &functions), 0);
	assert_null(name_at(&functions, 0xfff));
	assert_string_equal(name_at(&functions, 0x1000), "first");
	assert_string_equal(name_at(&functions, 0x101f), "first");
	assert_null(name_at(&functions, 0x1020));
	assert_string_equal(name_at(&functions, 0x200f), "second");
	assert_null(name_at(&functions, 0x2010));
	assert_null(name_at(&functions, 0x3000));
	assert_string_equal(name_at(&functions, 0x4000), "resolver");
	assert_string_equal(name_at(&functions, 0x5001), "assembler");
	assert_null(name_at(&functions, 0x6000));
	assert_null(name_at(&functions, UINT64_MAX));
	elf_functions_free(&functions);
}

static void prefers_the_name_that_a_reader_looks_for(void **state)
{
	struct elf_functions functions;
	struct elf_builder m;

	(void)state;
	elf_builder_init(&m, SHT_SYMTAB);
	elf_builder_symbol(&m, "__libc_malloc", 0x2000, 0x10, STB_GLOBAL, STT_FUNC);
	elf_builder_symbol(&m, "malloc", 0x2000, 0x10, STB_GLOBAL, STT_FUNC);
	elf_builder_symbol(&m, "local", 0x2000, 0x10, STB_LOCAL, STT_FUNC);
	elf_builder_symbol(&m, "weak", 0x3000, 0x10, STB_WEAK, STT_FUNC);
	elf_builder_symbol(&m, "__strong", 0x3000, 0x10, STB_GLOBAL, STT_FUNC);
	elf_builder_symbol(&m, "unsized", 0x4000, 0, STB_GLOBAL, STT_FUNC);
	elf_builder_symbol(&m, "sized", 0x4000, 8, STB_LOCAL, STT_FUNC);
	assert_int_equal(functions_of(&m, ELF_SYMTAB, &functions), 0);
	assert_string_equal(name_at(&functions, 0x2001), "malloc");
	assert_string_equal(name_at(&functions, 0x3001), "__strong");
	assert_string_equal(name_at(&functions, 0x4001), "sized");
	assert_int_equal(functions.count, 3);
	elf_functions_free(&functions);
}

static void unsized_functions_reach_to_the_next(void **state)
{
	struct elf_functions functions;
	struct elf_builder m;

	(void)state;
	elf_builder_init(&m, SHT_SYMTAB);
	elf_builder_symbol(&m, "a", 0x2000, 0, STB_GLOBAL, STT_FUNC);
	elf_builder_symbol(&m, "b", 0x2100, 0x10, STB_GLOBAL, STT_FUNC);
	elf_builder_symbol(&m, "c", 0x3000, 0, STB_GLOBAL,
			   STT_FUNC); /* 4 MiB to the section's end */
	elf_builder_symbol(&m, "outside", 0x900000, 0, STB_GLOBAL, STT_FUNC);
	assert_int_equal(functions_of(&m, ELF_SYMTAB, &functions), 0);
	assert_string_equal(name_at(&functions, 0x20ff), "a");
	assert_string_equal(name_at(&functions, 0x2100), "b");
	assert_null(name_at(&functions, 0x2110));
	assert_string_equal(name_at(&functions, 0x3000 + (1 << 20) - 1), "c");
	assert_null(name_at(&functions, 0x3000 + (1 << 20)));
	assert_null(name_at(&functions, 0x900000));
	elf_functions_free(&functions);
}

static void finds_the_function_around_a_nested_one(void **state)
{
	struct elf_functions functions;
	struct elf_builder m;

	(void)state;
	elf_builder_init(&m, SHT_SYMTAB);
	elf_builder_symbol(&m, "outer", 0x2000, 0x100, STB_GLOBAL, STT_FUNC);
	elf_builder_symbol(&m, "inner", 0x2010, 0x10, STB_GLOBAL, STT_FUNC);
	assert_int_equal(functions_of(&m, ELF_SYMTAB, &functions), 0);
	assert_string_equal(name_at(&functions, 0x2015), "inner");
	assert_string_equal(name_at(&functions, 0x2080), "outer");
	elf_functions_free(&functions);
}

static void versions_are_cut_from_symtab_names(void **state)
{
	struct elf_functions functions;
	struct elf_builder m;

	(void)state;
	elf_builder_init(&m, SHT_SYMTAB);
	elf_builder_symbol(&m, "memcpy@@GLIBC_2.14", 0x2000, 0x10, STB_GLOBAL, STT_FUNC);
	assert_int_equal(functions_of(&m, ELF_SYMTAB, &functions), 0);
	assert_string_equal(name_at(&functions, 0x2000), "memcpy");
	elf_functions_free(&functions);
	m.elf.sections[SYMBOLS].sh_type = SHT_DYNSYM;
	assert_int_equal(functions_of(&m, ELF_SYMTAB, &functions), -ENOENT);
	assert_int_equal(functions_of(&m, ELF_DYNSYM, &functions), 0);
	assert_string_equal(name_at(&functions, 0x2000), "memcpy@@GLIBC_2.14");
	elf_functions_free(&functions);
}

static void reads_the_build_id(void **state)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	struct elf_file *file;
	struct elf_builder m;

	(void)state;
	elf_builder_init(&m, SHT_SYMTAB);
	assert_int_equal(elf_file_open(as_file(&m.elf, sizeof(m.elf)), &file), 0);
	assert_int_equal(elf_file_build_id(file, id), 20);
	assert_memory_equal(id, m.elf.note.id, 20);
	elf_file_close(file);
	m.elf.segment.p_type = PT_LOAD; /* as in a debug file: by its section only */
	m.elf.sections[NOTE] = (Elf64_Shdr){.sh_type = SHT_NOTE,
					    .sh_offset = offsetof(struct small_elf, note),
					    .sh_size = sizeof(m.elf.note),
					    .sh_addralign = 4};
	assert_int_equal(elf_file_open(as_file(&m.elf, sizeof(m.elf)), &file), 0);
	assert_int_equal(elf_file_build_id(file, id), 20);
	elf_file_close(file);
}

/* --- damage --- */

static void refuses_what_is_not_elf(void **state)
{
	struct elf_file *file = NULL;
	struct elf_builder m;

	(void)state;
	assert_int_equal(elf_file_open(as_file("", 0), &file), -ENOEXEC);
	assert_int_equal(elf_file_open(as_file("#!/bin/sh\n", 10), &file), -ENOEXEC);
	elf_builder_init(&m, SHT_SYMTAB);
	m.elf.header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(elf_file_open(as_file(&m.elf, sizeof(m.elf)), &file), -ENOEXEC);
	elf_builder_init(&m, SHT_SYMTAB);
	m.elf.header.e_ident[EI_DATA] ^= 3;
	assert_int_equal(elf_file_open(as_file(&m.elf, sizeof(m.elf)), &file), -ENOEXEC);
	elf_builder_init(&m, SHT_SYMTAB);
	m.elf.header.e_type = ET_REL;
	assert_int_equal(elf_file_open(as_file(&m.elf, sizeof(m.elf)), &file), -ENOEXEC);
	assert_int_equal(elf_file_open(open("/dev/null", O_RDONLY), &file), -ENOEXEC);
	assert_null(file);
}

static void refuses_damaged_tables(void **state)
{
	struct elf_functions functions = {0};
	struct elf_builder good, m;

	(void)state;
	elf_builder_init(&good, SHT_SYMTAB);
	elf_builder_symbol(&good, "f", 0x2000, 0x10, STB_GLOBAL, STT_FUNC);
#define EXPECT(field, value, error)                                                                \
	do {                                                                                       \
		m = good;                                                                          \
		m.elf.field = (value);                                                             \
		assert_int_equal(functions_of(&m, ELF_SYMTAB, &functions), error);                 \
	} while (0)
	EXPECT(header.e_shoff, UINT64_MAX - 8, -EBADMSG);
	EXPECT(header.e_shoff, sizeof(struct small_elf) - 8, -EBADMSG);
	EXPECT(header.e_shentsize, 63, -EBADMSG);
	EXPECT(header.e_shnum, 60000, -EBADMSG);
	EXPECT(header.e_shoff, 0, -ENOENT);
	EXPECT(sections[SYMBOLS].sh_entsize, 0, -EBADMSG);
	EXPECT(sections[SYMBOLS].sh_offset, UINT64_MAX, -EBADMSG);
	EXPECT(sections[SYMBOLS].sh_size, UINT64_MAX, -EBADMSG);
	EXPECT(sections[SYMBOLS].sh_link, 1000, -EBADMSG);
	EXPECT(sections[SYMBOLS].sh_link, TEXT, -EBADMSG);
	EXPECT(sections[STRINGS].sh_size, UINT64_MAX, -EBADMSG);
	EXPECT(sections[STRINGS].sh_offset, UINT64_MAX - 100, -EBADMSG);
	EXPECT(sections[STRINGS].sh_size, 0, -ENOENT);
	EXPECT(symbols[1].st_name, UINT32_MAX, -ENOENT);
	EXPECT(symbols[1].st_shndx, SHN_UNDEF, -ENOENT);
	EXPECT(symbols[1].st_shndx, SHN_ABS, -ENOENT);
#undef EXPECT
	/* 0 sections in the header: their number stands in the first one */
	m = good;
	m.elf.header.e_shnum = 0;
	m.elf.sections[0].sh_size = UINT64_MAX;
	assert_int_equal(functions_of(&m, ELF_SYMTAB, &functions), -EFBIG);
	m.elf.sections[0].sh_size = SECTIONS;
	assert_int_equal(functions_of(&m, ELF_SYMTAB, &functions), 0);
	elf_functions_free(&functions);
	assert_int_equal(functions_of(&good, ELF_SYMTAB, &functions), 0);
	elf_functions_free(&functions);
}

static void strange_sizes_do_no_harm(void **state)
{
	struct elf_functions functions;
	struct elf_builder m;

	(void)state;
	elf_builder_init(&m, SHT_SYMTAB);
	elf_builder_symbol(&m, "huge", 0x2000, UINT64_MAX, STB_GLOBAL, STT_FUNC);
	elf_builder_symbol(&m, "high", UINT64_MAX - 4, 100, STB_GLOBAL, STT_FUNC);
	m.elf.symbols[m.symbols - 1].st_shndx = 0xfe00;
	assert_int_equal(functions_of(&m, ELF_SYMTAB, &functions), 0);
	assert_string_equal(name_at(&functions, 0x100001000u), "huge");
	assert_null(name_at(&functions, 0x10));
	assert_string_equal(name_at(&functions, UINT64_MAX), "high");
	elf_functions_free(&functions);
}

static void memory_is_bounded(void **state)
{
	struct elf_functions functions;
	struct elf_file *file;
	struct elf_builder m;

	(void)state;
	elf_builder_init(&m, SHT_SYMTAB);
	elf_builder_symbol(&m, "f", 0x2000, 0x10, STB_GLOBAL, STT_FUNC);
	assert_int_equal(elf_file_open(as_file(&m.elf, sizeof(m.elf)), &file), 0);
	assert_int_equal(elf_file_functions(file, ELF_SYMTAB, 600, &functions), -EFBIG);
	elf_file_close(file);
}

static void damaged_notes_have_no_build_id(void **state)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	struct elf_file *file;
	struct elf_builder m;
	const Elf64_Nhdr bad[] = {
		{4, UINT32_MAX, NT_GNU_BUILD_ID}, {UINT32_MAX, 20, NT_GNU_BUILD_ID},
		{4, 0, NT_GNU_BUILD_ID},	  {4, 20, 99},
		{4, 24, NT_GNU_BUILD_ID},	  {UINT32_MAX, UINT32_MAX, NT_GNU_BUILD_ID},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		elf_builder_init(&m, SHT_SYMTAB);
		m.elf.note.head = bad[i];
		assert_int_equal(elf_file_open(as_file(&m.elf, sizeof(m.elf)), &file), 0);
		assert_int_equal(elf_file_build_id(file, id), 0);
		elf_file_close(file);
	}
	elf_builder_init(&m, SHT_SYMTAB);
	m.elf.segment.p_offset = UINT64_MAX;
	m.elf.header.e_phnum = 1000;
	assert_int_equal(elf_file_open(as_file(&m.elf, sizeof(m.elf)), &file), 0);
	assert_int_equal(elf_file_build_id(file, id), 0);
	elf_file_close(file);
}

/* --- real objects --- */

static int find_base(struct dl_phdr_info *info, size_t size, void *opaque)
{
	(void)size;
	*(uint64_t *)opaque = info->dlpi_addr; /* the program comes first */
	return 1;
}

static void names_a_function_of_this_program(void **state)
{
	char path[512] = {0};
	uint64_t base = 0, address = (uint64_t)(uintptr_t)names_a_function_of_this_program;
	struct symbols *symbols;
	struct symbol symbol;

	(void)state;
	dl_iterate_phdr(find_base, &base);
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(symbols_create(&symbols), 0);
	symbol = symbols_lookup(symbols, path, 0, NULL, 0, address - base + 3);
	assert_non_null(symbol.function);
	assert_string_equal(symbol.function, "names_a_function_of_this_program");
	assert_int_equal(symbol.offset, 3);
	symbol = symbols_lookup(symbols, path, getpid(), NULL, 0, address - base);
	assert_string_equal(symbol.function, "names_a_function_of_this_program");
	symbols_destroy(symbols);
}

static void names_a_function_of_libc(void **state)
{
	struct symbols *symbols;
	struct symbol symbol;
	struct link_map *map;
	Dl_info info;

	(void)state;
	assert_true(dladdr1((void *)(uintptr_t)getsubopt, &info, (void **)&map, RTLD_DL_LINKMAP) !=
		    0);
	assert_int_equal(symbols_create(&symbols), 0);
	symbol = symbols_lookup(symbols, map->l_name, getpid(), NULL, 0,
				(uint64_t)(uintptr_t)getsubopt - map->l_addr + 1);
	assert_non_null(symbol.function);
	assert_string_equal(symbol.function, "getsubopt");
	symbols_destroy(symbols);
}

static void another_build_id_is_another_file(void **state)
{
	char path[64] = "/tmp/heaptap-test-XXXXXX";
	const uint8_t other[20] = {1};
	struct symbols *symbols;
	struct symbol symbol;
	struct elf_builder m;
	int fd = mkstemp(path);

	(void)state;
	elf_builder_init(&m, SHT_DYNSYM);
	elf_builder_symbol(&m, "f", 0x2000, 0x10, STB_GLOBAL, STT_FUNC);
	assert_int_equal(write(fd, &m.elf, sizeof(m.elf)), (ssize_t)sizeof(m.elf));
	close(fd);
	assert_int_equal(symbols_create(&symbols), 0);
	symbol = symbols_lookup(symbols, path, 0, m.elf.note.id, 20, 0x2004);
	assert_string_equal(symbol.function, "f");
	assert_int_equal(symbol.offset, 4);
	assert_null(symbols_lookup(symbols, path, 0, other, 20, 0x2004).function);
	assert_null(symbols_lookup(symbols, path, 0, m.elf.note.id, 8, 0x2004).function);
	unlink(path);
	/* what was read once is kept */
	symbol = symbols_lookup(symbols, path, 0, m.elf.note.id, 20, 0x2004);
	assert_string_equal(symbol.function, "f");
	symbols_destroy(symbols);
}

static void unusable_paths_have_no_names(void **state)
{
	const char *const paths[] = {
		"",	     "relative",       "/",	 "/nowhere/at/all",
		"/dev/zero", "/proc/self/mem", "[vdso]", "/usr/bin/gone (deleted)"};
	struct symbols *symbols;

	(void)state;
	assert_int_equal(symbols_create(&symbols), 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_null(symbols_lookup(symbols, paths[i], 0, NULL, 0, 0x1000).function);
		assert_null(symbols_lookup(symbols, paths[i], getpid(), NULL, 0, 0x10).function);
	}
	assert_int_equal(symbols_refused(symbols), 0);
	symbols_destroy(symbols);
}

/* --- demangling --- */

static void check_demangled(const char *mangled, const char *expected)
{
	char *text = demangle(mangled);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void demangles_cxx_and_rust(void **state)
{
	(void)state;
	check_demangled("main", "main");
	check_demangled("", "");
	check_demangled("_Zmalformed", "_Zmalformed");
	check_demangled("_Z3addii", "add(int, int)");
	check_demangled("_ZN3foo3bar3bazEv", "foo::bar::baz()");
	check_demangled("_ZNSt6vectorIiSaIiEE9push_backERKi",
			"std::vector<int, std::allocator<int> >::push_back(int const&)");
	check_demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
			"core::fmt::Formatter::pad");
	check_demangled("_RNvC6_123foo3bar", "123foo::bar");
	check_demangled("zmalloc.constprop.0", "zmalloc.constprop.0");
}

static void hostile_names_are_bounded(void **state)
{
	char name[8192], *text;
	size_t at;

	(void)state;
	memset(name, 'P', sizeof(name));
	memcpy(name, "_Z1f", 4);
	name[sizeof(name) - 1] = '\0';
	text = demangle(name); /* too long to be tried */
	assert_true(strlen(text) <= 1027);
	free(text);
	name[2040] = '\0';
	text = demangle(name); /* deep */
	assert_non_null(text);
	free(text);
	/* each parameter is a pair of the one before: 2^60 in all */
	at = (size_t)sprintf(name, "_Z1fSt4pairIiiE");
	for (int i = 0; i < 60; i++)
		at += i == 0 ? (size_t)sprintf(name + at, "S_IS0_S0_E")
			     : (size_t)sprintf(name + at, "S_IS%c_S%c_E", '0' + i % 10,
					       '0' + i % 10);
	text = demangle(name);
	assert_true(strlen(text) <= 1027);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_only_inside_of_functions),
		cmocka_unit_test(prefers_the_name_that_a_reader_looks_for),
		cmocka_unit_test(unsized_functions_reach_to_the_next),
		cmocka_unit_test(finds_the_function_around_a_nested_one),
		cmocka_unit_test(versions_are_cut_from_symtab_names),
		cmocka_unit_test(reads_the_build_id),
		cmocka_unit_test(refuses_what_is_not_elf),
		cmocka_unit_test(refuses_damaged_tables),
		cmocka_unit_test(strange_sizes_do_no_harm),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(damaged_notes_have_no_build_id),
		cmocka_unit_test(names_a_function_of_this_program),
		cmocka_unit_test(names_a_function_of_libc),
		cmocka_unit_test(another_build_id_is_another_file),
		cmocka_unit_test(unusable_paths_have_no_names),
		cmocka_unit_test(demangles_cxx_and_rust),
		cmocka_unit_test(hostile_names_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

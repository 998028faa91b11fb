/* SPDX-License-Identifier: MIT */
/*
 * elf_file.c - see elf_file.h.
 *
 * Of several symbols at one address the one is kept that a reader of the code would look for: a
 * function with a size, global before local, without leading underscores (malloc, not
 * __libc_malloc).
 */
#include "dashboard/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PROGRAM_HEADERS_MAX = 1024,
	SECTIONS_MAX = 1 << 16,
	NOTES_MAX = 1 << 16,
	SYMBOLS_AT_ONCE = 1024, /* 24 KiB of stack */
	UNSIZED_MAX = 1 << 20,
	NAME_MAX_KEPT = 4096,
	OVERLAP_MAX = 16, /* how many starts may lie inside an enclosing function */
};

#define FILE_MAX (2ull << 30)

struct elf_file {
	int fd;
	uint64_t size;
	Elf64_Ehdr header;
	Elf64_Shdr *sections;
	size_t section_count;
};

struct candidate {
	uint64_t start;
	uint64_t size;
	uint32_t name;
	uint16_t section;
	uint16_t rank; /* lower is better */
};

static int read_at(const struct elf_file *file, void *out, uint64_t size, uint64_t offset)
{
	char *at = out;

	if (offset > file->size || size > file->size - offset)
		return -EBADMSG;
	while (size > 0) {
		ssize_t got = pread(file->fd, at, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EBADMSG;
		at += got;
		offset += (uint64_t)got;
		size -= (uint64_t)got;
	}
	return 0;
}

static int check_header(const Elf64_Ehdr *header)
{
	const unsigned char order =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != order ||
	    (header->e_type != ET_EXEC && header->e_type != ET_DYN))
		return -ENOEXEC;
	return 0;
}

/* A file without sections is fine: it has no symbols then. */
static int read_sections(struct elf_file *file)
{
	const Elf64_Ehdr *header = &file->header;
	uint64_t count = header->e_shnum;
	Elf64_Shdr first;
	int err;

	if (header->e_shoff == 0)
		return 0;
	if (header->e_shentsize != sizeof(Elf64_Shdr))
		return -EBADMSG;
	if (count == 0) { /* too many for the header's field */
		err = read_at(file, &first, sizeof(first), header->e_shoff);
		if (err)
			return err;
		count = first.sh_size;
	}
	if (count > SECTIONS_MAX)
		return -EFBIG;
	file->sections = calloc(count + 1, sizeof(Elf64_Shdr));
	if (!file->sections)
		return -ENOMEM;
	file->section_count = count;
	return read_at(file, file->sections, count * sizeof(Elf64_Shdr), header->e_shoff);
}

static int measure(struct elf_file *file)
{
	struct stat st;

	if (fstat(file->fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	if ((uint64_t)st.st_size > FILE_MAX)
		return -EFBIG;
	file->size = (uint64_t)st.st_size;
	return file->size < sizeof(Elf64_Ehdr) ? -ENOEXEC : 0;
}

int elf_file_open(int fd, struct elf_file **out)
{
	struct elf_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	file->fd = fd;
	err = measure(file);
	if (!err)
		err = read_at(file, &file->header, sizeof(file->header), 0);
	if (!err)
		err = check_header(&file->header);
	if (!err)
		err = read_sections(file);
	if (err) {
		elf_file_close(file);
		return err;
	}
	*out = file;
	return 0;
}

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	close(file->fd);
	free(file->sections);
	free(file);
}

/* --- build-id --- */

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) & ~(alignment - 1);
}

static size_t find_build_id(const char *notes, uint64_t size, uint64_t alignment,
			    uint8_t out[ELF_BUILD_ID_MAX])
{
	uint64_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t name, text;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		text = align_up(name + note.n_namesz, alignment);
		at = align_up(text + note.n_descsz, alignment);
		if (text > size || note.n_descsz > size - text)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 && note.n_descsz > 0 &&
		    note.n_descsz <= ELF_BUILD_ID_MAX) {
			memcpy(out, notes + text, note.n_descsz);
			return note.n_descsz;
		}
		if (at > size)
			return 0;
	}
	return 0;
}

static size_t build_id_at(struct elf_file *file, uint64_t offset, uint64_t size, uint64_t alignment,
			  uint8_t out[ELF_BUILD_ID_MAX])
{
	size_t found = 0;
	char *notes;

	if (size == 0 || size > NOTES_MAX)
		return 0;
	notes = malloc(size);
	if (notes && read_at(file, notes, size, offset) == 0)
		found = find_build_id(notes, size, alignment == 8 ? 8 : 4, out);
	free(notes);
	return found;
}

size_t elf_file_build_id(struct elf_file *file, uint8_t out[ELF_BUILD_ID_MAX])
{
	const Elf64_Ehdr *header = &file->header;
	size_t found = 0, i;
	Elf64_Phdr segment;

	if (header->e_phentsize == sizeof(segment) && header->e_phnum <= PROGRAM_HEADERS_MAX)
		for (i = 0; i < header->e_phnum && !found; i++)
			if (read_at(file, &segment, sizeof(segment),
				    header->e_phoff + i * sizeof(segment)) == 0 &&
			    segment.p_type == PT_NOTE)
				found = build_id_at(file, segment.p_offset, segment.p_filesz,
						    segment.p_align, out);
	/* Separate debug files keep their notes, but not where the program headers say. */
	for (i = 0; i < file->section_count && !found; i++)
		if (file->sections[i].sh_type == SHT_NOTE)
			found = build_id_at(file, file->sections[i].sh_offset,
					    file->sections[i].sh_size,
					    file->sections[i].sh_addralign, out);
	return found;
}

/* --- functions --- */

static const Elf64_Shdr *find_section(const struct elf_file *file, uint32_t type)
{
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].sh_type == type)
			return &file->sections[i];
	return NULL;
}

static bool is_function(const Elf64_Sym *symbol, enum elf_table table)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	/* assembler that forgot its .type, but not its .size */
	return type == STT_NOTYPE && table == ELF_SYMTAB && symbol->st_size > 0;
}

static uint16_t rank(const Elf64_Sym *symbol, const char *name)
{
	unsigned bind = ELF64_ST_BIND(symbol->st_info);
	unsigned binding = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
	unsigned untyped = ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE;
	unsigned underscores = 0;

	while (underscores < 15 && name[underscores] == '_')
		underscores++;
	/* Mangled names begin with one underscore that is no sign of an inner name. */
	if (underscores == 1 && (name[1] == 'Z' || name[1] == 'R'))
		underscores = 0;
	return (uint16_t)((symbol->st_size == 0) << 8 | untyped << 7 | binding << 5 | underscores);
}

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

struct reading {
	struct elf_file *file;
	enum elf_table table;
	const Elf64_Shdr *symbols;
	char *strings; /* NUL-terminated as a whole */
	uint64_t strings_size;
	struct candidate *candidates;
	size_t count;
};

static void take_symbol(struct reading *reading, const Elf64_Sym *symbol)
{
	const char *name = reading->strings + symbol->st_name;

	if (!is_function(symbol, reading->table) || symbol->st_name >= reading->strings_size ||
	    *name == '\0')
		return;
	reading->candidates[reading->count++] = (struct candidate){
		.start = symbol->st_value,
		.size = symbol->st_size,
		.name = symbol->st_name,
		.section = symbol->st_shndx,
		.rank = rank(symbol, name),
	};
}

static int read_candidates(struct reading *reading)
{
	Elf64_Sym chunk[SYMBOLS_AT_ONCE];
	uint64_t left = reading->symbols->sh_size / sizeof(Elf64_Sym);
	uint64_t offset = reading->symbols->sh_offset;

	while (left > 0) {
		size_t n = left < SYMBOLS_AT_ONCE ? left : SYMBOLS_AT_ONCE;
		int err = read_at(reading->file, chunk, n * sizeof(Elf64_Sym), offset);

		if (err)
			return err;
		for (size_t i = 0; i < n; i++)
			take_symbol(reading, &chunk[i]);
		offset += n * sizeof(Elf64_Sym);
		left -= n;
	}
	return 0;
}

/* Reads names and candidates; on failure the caller frees what is there. */
static int read_table(struct reading *reading, size_t memory)
{
	const struct elf_file *file = reading->file;
	const Elf64_Shdr *symbols = reading->symbols, *strings;
	uint64_t count = symbols->sh_size / sizeof(Elf64_Sym);
	int err;

	if (symbols->sh_entsize != sizeof(Elf64_Sym) || symbols->sh_link >= file->section_count ||
	    symbols->sh_size > file->size)
		return -EBADMSG;
	strings = &file->sections[symbols->sh_link];
	if (strings->sh_type != SHT_STRTAB || strings->sh_size > file->size)
		return -EBADMSG;
	if (strings->sh_size + count * sizeof(struct candidate) > memory)
		return -EFBIG;
	reading->strings_size = strings->sh_size;
	reading->strings = malloc(strings->sh_size + 1);
	reading->candidates = malloc((count + 1) * sizeof(struct candidate));
	if (!reading->strings || !reading->candidates)
		return -ENOMEM;
	err = read_at(file, reading->strings, strings->sh_size, strings->sh_offset);
	if (err)
		return err;
	reading->strings[strings->sh_size] = '\0';
	return read_candidates(reading);
}

/* Sorts and keeps the best of each address. */
static void choose(struct reading *reading)
{
	struct candidate *list = reading->candidates;
	size_t kept = 0;

	if (reading->count > 1)
		qsort(list, reading->count, sizeof(*list), compare_candidates);
	for (size_t i = 0; i < reading->count; i++)
		if (kept == 0 || list[kept - 1].start != list[i].start)
			list[kept++] = list[i];
	reading->count = kept;
}

/* Where a symbol has no size, it reaches to the next one or to the end of its section. */
static uint32_t extent(const struct reading *reading, size_t index)
{
	const struct candidate *at = &reading->candidates[index];
	const struct elf_file *file = reading->file;
	const Elf64_Shdr *section;
	uint64_t size = at->size, end;

	if (size > 0)
		return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	if (at->section >= file->section_count)
		return 0;
	section = &file->sections[at->section];
	if (at->start < section->sh_addr || at->start - section->sh_addr >= section->sh_size)
		return 0;
	size = section->sh_size - (at->start - section->sh_addr);
	if (index + 1 < reading->count) {
		end = reading->candidates[index + 1].start;
		size = end - at->start < size ? end - at->start : size;
	}
	return size < UNSIZED_MAX ? (uint32_t)size : UNSIZED_MAX;
}

/* .symtab writes the version into the name, as in memcpy@@GLIBC_2.14. */
static size_t name_length(const struct reading *reading, size_t index)
{
	const char *name = reading->strings + reading->candidates[index].name;
	size_t length = strnlen(name, NAME_MAX_KEPT);
	const char *version = memchr(name, '@', length);

	return version && reading->table == ELF_SYMTAB ? (size_t)(version - name) : length;
}

static int pack(const struct reading *reading, size_t memory, struct elf_functions *out)
{
	struct elf_functions packed = {.count = reading->count};

	for (size_t i = 0; i < reading->count && packed.names_size <= memory; i++)
		packed.names_size += name_length(reading, i) + 1;
	if (packed.names_size > UINT32_MAX ||
	    packed.names_size + packed.count * sizeof(struct elf_function) > memory)
		return -EFBIG;
	packed.functions = malloc((packed.count + 1) * sizeof(struct elf_function));
	packed.names = malloc(packed.names_size + 1);
	if (!packed.functions || !packed.names) {
		elf_functions_free(&packed);
		return -ENOMEM;
	}
	packed.names_size = 0;
	for (size_t i = 0; i < packed.count; i++) {
		const struct candidate *from = &reading->candidates[i];
		size_t length = name_length(reading, i);

		packed.functions[i] = (struct elf_function){from->start, extent(reading, i),
							    (uint32_t)packed.names_size};
		memcpy(packed.names + packed.names_size, reading->strings + from->name, length);
		packed.names[packed.names_size + length] = '\0';
		packed.names_size += length + 1;
	}
	*out = packed;
	return 0;
}

int elf_file_functions(struct elf_file *file, enum elf_table table, size_t memory,
		       struct elf_functions *out)
{
	struct reading reading = {.file = file, .table = table};
	int err;

	reading.symbols = find_section(file, table == ELF_SYMTAB ? SHT_SYMTAB : SHT_DYNSYM);
	if (!reading.symbols)
		return -ENOENT;
	err = read_table(&reading, memory);
	if (!err) {
		choose(&reading);
		err = reading.count > 0 ? pack(&reading, memory, out) : -ENOENT;
	}
	free(reading.strings);
	free(reading.candidates);
	return err;
}

void elf_functions_free(struct elf_functions *functions)
{
	free(functions->functions);
	free(functions->names);
	*functions = (struct elf_functions){0};
}

const struct elf_function *elf_functions_find(const struct elf_functions *functions,
					      uint64_t address)
{
	size_t low = 0, high = functions->count;

	while (low < high) { /* the first one that starts above `address` */
		size_t middle = low + (high - low) / 2;

		if (functions->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < OVERLAP_MAX; i--) {
		const struct elf_function *at = &functions->functions[i - 1];

		if (address - at->start < at->size)
			return at;
	}
	return NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * program.c - see program.h. Reads just enough of an ELF file: its header, the interpreter, and the
 * dynamic strings, in which both the libraries it needs and the symbols it exports are named.
 */
#include "dashboard/cli/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPTS_MAX 4

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

static int check_file(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

int program_find(const char *command, char *path, size_t size)
{
	const char *list = getenv("PATH");
	int found = -ENOENT;

	if (strchr(command, '/')) {
		snprintf(path, size, "%s", command);
		return check_file(path);
	}
	if (!list)
		list = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t length = strcspn(list, ":");
		int err;

		snprintf(path, size, "%.*s%s%s", (int)length, list, length ? "/" : "", command);
		err = check_file(path);
		if (err == 0)
			return 0;
		if (err == -EACCES)
			found = err;
		if (!list[length])
			return found;
		list += length + 1;
	}
}

struct image {
	const char *bytes;
	size_t size;
};

static const void *at(const struct image *image, uint64_t offset, uint64_t size)
{
	if (offset > image->size || size > image->size - offset)
		return NULL;
	return image->bytes + offset;
}

static const Elf64_Phdr *segment(const struct image *image, unsigned index)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image->bytes;

	if (index >= header->e_phnum || header->e_phentsize != sizeof(Elf64_Phdr))
		return NULL;
	return at(image, header->e_phoff + index * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
}

static const Elf64_Phdr *find_segment(const struct image *image, uint32_t type)
{
	const Elf64_Phdr *one;

	for (unsigned i = 0; (one = segment(image, i)); i++)
		if (one->p_type == type)
			return one;
	return NULL;
}

/* Bytes of the file that are loaded at `address`. */
static const void *loaded(const struct image *image, uint64_t address, uint64_t size)
{
	const Elf64_Phdr *one;

	for (unsigned i = 0; (one = segment(image, i)); i++)
		if (one->p_type == PT_LOAD && address >= one->p_vaddr &&
		    address - one->p_vaddr < one->p_filesz)
			return at(image, one->p_offset + (address - one->p_vaddr), size);
	return NULL;
}

static bool is_sanitized(const struct image *image)
{
	static const char *const signs[] = {"__asan_init", "__tsan_init", "__msan_init",
					    "libasan.so",  "libtsan.so",  "libclang_rt.asan"};
	const Elf64_Phdr *dynamic = find_segment(image, PT_DYNAMIC);
	const Elf64_Dyn *entry = dynamic ? at(image, dynamic->p_offset, dynamic->p_filesz) : NULL;
	uint64_t strings = 0, size = 0;
	const char *text;

	for (uint64_t i = 0; entry && i < dynamic->p_filesz / sizeof *entry; i++) {
		if (entry[i].d_tag == DT_STRTAB)
			strings = entry[i].d_un.d_ptr;
		else if (entry[i].d_tag == DT_STRSZ)
			size = entry[i].d_un.d_val;
	}
	text = strings ? loaded(image, strings, size) : NULL;
	for (size_t i = 0; text && i < sizeof signs / sizeof signs[0]; i++)
		if (memmem(text, size, signs[i], strlen(signs[i])))
			return true;
	return false;
}

static bool has_foreign_libc(const struct image *image, const Elf64_Phdr *interpreter)
{
	const char *path = at(image, interpreter->p_offset, interpreter->p_filesz);

	return path && memmem(path, interpreter->p_filesz, "musl", 4);
}

static enum program_kind kind_of_elf(const struct image *image)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image->bytes;
	const Elf64_Phdr *interpreter;

	if (image->size < sizeof *header || header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_machine != OWN_MACHINE)
		return PROGRAM_FOREIGN;
	interpreter = find_segment(image, PT_INTERP);
	if (!interpreter)
		return PROGRAM_STATIC;
	if (has_foreign_libc(image, interpreter))
		return PROGRAM_FOREIGN;
	return is_sanitized(image) ? PROGRAM_SANITIZED : PROGRAM_GOOD;
}

/* "#!/usr/bin/env python3": what env finds decides, options of env left aside. */
static bool interpreter_of(const struct image *image, char *path, size_t size)
{
	char line[256], *word, *rest;
	size_t length = image->size < sizeof line ? image->size : sizeof line - 1;

	memcpy(line, image->bytes, length);
	line[length] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &rest);
	if (!word)
		return false;
	if (strlen(word) > 4 && strcmp(word + strlen(word) - 4, "/env") == 0) {
		do
			word = strtok_r(NULL, " \t", &rest);
		while (word && (word[0] == '-' || strchr(word, '=')));
	}
	return word && program_find(word, path, size) == 0;
}

/* -1: a script, whose interpreter is in `next`. */
static int look_at(const char *path, char *next, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), kind = PROGRAM_GOOD;
	struct stat status;
	struct image image;

	if (fd < 0 || fstat(fd, &status) || status.st_size < 4) {
		if (fd >= 0)
			close(fd);
		return PROGRAM_GOOD;
	}
	image.size = (size_t)status.st_size;
	image.bytes = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image.bytes == MAP_FAILED) {
		close(fd);
		return PROGRAM_GOOD;
	}
	if (memcmp(image.bytes, "#!", 2) == 0)
		kind = interpreter_of(&image, next, size) ? -1 : PROGRAM_GOOD;
	else if ((status.st_mode & S_ISUID && status.st_uid != geteuid()) ||
		 (status.st_mode & S_ISGID && status.st_gid != getegid()) ||
		 (geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0))
		kind = PROGRAM_SETUID;
	else if (memcmp(image.bytes, ELFMAG, SELFMAG) == 0)
		kind = kind_of_elf(&image);
	munmap((void *)image.bytes, image.size);
	close(fd);
	return kind;
}

enum program_kind program_kind(const char *path)
{
	char one[4096], other[4096];

	snprintf(one, sizeof one, "%s", path);
	for (int i = 0; i <= SCRIPTS_MAX; i++) {
		int kind = look_at(one, other, sizeof other);

		if (kind >= 0)
			return (enum program_kind)kind;
		memcpy(one, other, sizeof one);
	}
	return PROGRAM_GOOD;
}

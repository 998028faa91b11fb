/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - which file holds a module's functions, and the names that were asked for.
 *
 * A file is looked for where the process saw it, then here, then as the process's executable; its
 * build-id decides whether it is the one. Names come from its .symtab, else from a separate debug
 * file, else from its .dynsym.
 */
#include "dashboard/symbols.h"
#include "dashboard/demangle.h"
#include "dashboard/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	MEMORY_MAX = 64 << 20, /* of all modules and names */
	MODULES_MAX = 4096,
	INDEX_MIN = 256,
	OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
};

struct build_id {
	uint8_t bytes[ELF_BUILD_ID_MAX];
	size_t size; /* 0: any file will do */
};

struct module {
	char *path;
	struct build_id build_id;
	bool tried_process; /* the process's own mounts were looked at */
	struct elf_functions functions;
};

struct name { /* of the function number `function` of a module, demangled */
	uint32_t module;
	uint32_t function;
	char *text; /* NULL: empty */
};

struct symbols {
	struct module *modules;
	size_t module_count;
	struct name *names; /* open addressing, a power of two of slots */
	size_t names_size, names_used;
	size_t memory;
	size_t refused;
};

int symbols_create(struct symbols **out)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return -ENOMEM;
	*out = symbols;
	return 0;
}

void symbols_destroy(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->module_count; i++) {
		free(symbols->modules[i].path);
		elf_functions_free(&symbols->modules[i].functions);
	}
	for (size_t i = 0; i < symbols->names_size; i++)
		free(symbols->names[i].text);
	free(symbols->modules);
	free(symbols->names);
	free(symbols);
}

size_t symbols_refused(const struct symbols *symbols)
{
	return symbols->refused;
}

/* --- files --- */

/* Opens a path as the process sees it. Its absolute symbolic links must be followed inside its own
 * root, which a plain open of /proc/PID/root/... does not do. */
static int open_in_root(int32_t pid, const char *path)
{
	struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT};
	char root[64];
	int rootfd, fd;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	rootfd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (rootfd < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, rootfd, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* an old kernel, or a seccomp filter */
		fd = openat(rootfd, path + strspn(path, "/"), OPEN_FLAGS);
	if (fd < 0)
		fd = -errno;
	close(rootfd);
	return fd;
}

static int open_executable(int32_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, OPEN_FLAGS);
	return fd < 0 ? -errno : fd;
}

static int open_plain(const char *path)
{
	int fd = open(path, OPEN_FLAGS);

	return fd < 0 ? -errno : fd;
}

/* NULL unless `fd` (may be -errno) is an ELF file with that build-id. */
static struct elf_file *accept_file(int fd, const struct build_id *wanted)
{
	uint8_t found[ELF_BUILD_ID_MAX];
	struct elf_file *file;

	if (fd < 0 || elf_file_open(fd, &file) < 0)
		return NULL;
	if (wanted->size == 0 || (elf_file_build_id(file, found) == wanted->size &&
				  memcmp(found, wanted->bytes, wanted->size) == 0))
		return file;
	elf_file_close(file);
	return NULL;
}

static struct elf_file *find_file(const char *path, int32_t pid, const struct build_id *wanted)
{
	struct elf_file *file = NULL;

	if (path[0] == '/' && pid > 0)
		file = accept_file(open_in_root(pid, path), wanted);
	if (!file && path[0] == '/')
		file = accept_file(open_plain(path), wanted);
	/* It may have been replaced or removed since; only the build-id tells that it is this. */
	if (!file && pid > 0 && wanted->size > 0)
		file = accept_file(open_executable(pid), wanted);
	return file;
}

static struct elf_file *find_debug_file(const struct build_id *wanted, int32_t pid)
{
	char path[64 + 2 * ELF_BUILD_ID_MAX] = "/usr/lib/debug/.build-id/";
	char *at = path + strlen(path);
	struct elf_file *file = NULL;

	if (wanted->size < 2)
		return NULL;
	for (size_t i = 0; i < wanted->size; i++)
		at += sprintf(at, i == 1 ? "/%02x" : "%02x", wanted->bytes[i]);
	strcpy(at, ".debug");
	if (pid > 0)
		file = accept_file(open_in_root(pid, path), wanted);
	return file ? file : accept_file(open_plain(path), wanted);
}

/* --- modules --- */

static int read_functions(struct elf_file *file, int32_t pid, size_t memory,
			  struct elf_functions *out)
{
	struct build_id own = {0};
	struct elf_file *debug;
	int err = elf_file_functions(file, ELF_SYMTAB, memory, out);

	if (!err)
		return 0;
	own.size = elf_file_build_id(file, own.bytes);
	debug = find_debug_file(&own, pid);
	if (debug) {
		err = elf_file_functions(debug, ELF_SYMTAB, memory, out);
		elf_file_close(debug);
		if (!err)
			return 0;
	}
	err = elf_file_functions(file, ELF_DYNSYM, memory, out);
	return err;
}

static void load(struct symbols *symbols, struct module *module, int32_t pid)
{
	struct elf_file *file = find_file(module->path, pid, &module->build_id);
	size_t left = symbols->memory < MEMORY_MAX ? MEMORY_MAX - symbols->memory : 0;
	struct elf_functions *functions = &module->functions;
	int err;

	module->tried_process = pid > 0;
	if (!file)
		return;
	err = read_functions(file, pid, left, functions);
	elf_file_close(file);
	if (err == -EFBIG || err == -ENOMEM)
		symbols->refused++;
	if (!err)
		symbols->memory +=
			functions->names_size + functions->count * sizeof(struct elf_function);
}

static bool is_module(const struct module *module, const char *path,
		      const struct build_id *build_id)
{
	return module->build_id.size == build_id->size &&
	       memcmp(module->build_id.bytes, build_id->bytes, build_id->size) == 0 &&
	       strcmp(module->path, path) == 0;
}

static struct module *add_module(struct symbols *symbols, const char *path,
				 const struct build_id *build_id)
{
	struct module *modules, *module;

	if (symbols->module_count == MODULES_MAX) {
		symbols->refused++;
		return NULL;
	}
	modules = reallocarray(symbols->modules, symbols->module_count + 1, sizeof(*modules));
	if (!modules)
		return NULL;
	symbols->modules = modules;
	module = &modules[symbols->module_count];
	*module = (struct module){.path = strdup(path), .build_id = *build_id};
	if (!module->path)
		return NULL;
	symbols->module_count++;
	return module;
}

static struct module *get_module(struct symbols *symbols, const char *path, int32_t pid,
				 const struct build_id *build_id)
{
	struct module *module = NULL;

	for (size_t i = 0; i < symbols->module_count && !module; i++)
		if (is_module(&symbols->modules[i], path, build_id))
			module = &symbols->modules[i];
	if (module && (module->functions.count > 0 || module->tried_process || pid <= 0))
		return module;
	if (!module)
		module = add_module(symbols, path, build_id);
	if (module)
		load(symbols, module, pid);
	return module;
}

/* --- names --- */

static struct name *find_name(const struct symbols *symbols, uint32_t module, uint32_t function)
{
	uint64_t key = (uint64_t)module << 32 | function;
	size_t mask = symbols->names_size - 1;
	size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & mask;

	while (symbols->names[at].text &&
	       (symbols->names[at].module != module || symbols->names[at].function != function))
		at = (at + 1) & mask;
	return &symbols->names[at];
}

static int grow_names(struct symbols *symbols)
{
	struct symbols grown = *symbols;

	grown.names_size = symbols->names_size ? symbols->names_size * 2 : INDEX_MIN;
	grown.names = calloc(grown.names_size, sizeof(*grown.names));
	if (!grown.names)
		return -ENOMEM;
	for (size_t i = 0; i < symbols->names_size; i++) {
		const struct name *name = &symbols->names[i];

		if (name->text)
			*find_name(&grown, name->module, name->function) = *name;
	}
	free(symbols->names);
	*symbols = grown;
	return 0;
}

/* The demangled name; as it stands in the file where there is no memory for more. */
static const char *get_name(struct symbols *symbols, const struct module *module,
			    const struct elf_function *function)
{
	const char *raw = module->functions.names + function->name;
	uint32_t number = (uint32_t)(function - module->functions.functions);
	struct name *name;
	char *text;

	if (symbols->memory >= MEMORY_MAX ||
	    ((symbols->names_used + 1) * 2 > symbols->names_size && grow_names(symbols) < 0))
		return raw;
	name = find_name(symbols, (uint32_t)(module - symbols->modules), number);
	if (name->text)
		return name->text;
	text = demangle(raw);
	if (!text)
		return raw;
	*name = (struct name){(uint32_t)(module - symbols->modules), number, text};
	symbols->names_used++;
	symbols->memory += strlen(text) + 1;
	return text;
}

struct symbol symbols_lookup(struct symbols *symbols, const char *path, int32_t pid,
			     const uint8_t *build_id, size_t build_id_size, uint64_t address)
{
	struct build_id wanted = {0};
	const struct elf_function *function;
	struct symbol symbol = {0};
	struct module *module;

	if (build_id_size > sizeof(wanted.bytes))
		return symbol;
	if (build_id && build_id_size > 0) {
		memcpy(wanted.bytes, build_id, build_id_size);
		wanted.size = build_id_size;
	}
	module = get_module(symbols, path, pid, &wanted);
	function = module ? elf_functions_find(&module->functions, address) : NULL;
	if (function) {
		symbol.function = get_name(symbols, module, function);
		symbol.offset = address - function->start;
	}
	return symbol;
}

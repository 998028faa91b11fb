/* SPDX-License-Identifier: MIT */
/*
 * site_names.c - see site_names.h. A lookup in `symbols` costs a search by path and one by
 * address, too much for 10,000 sites in each request; a hash makes it one probe.
 */
#include "dashboard/site_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_MIN = 256 };

struct name {
	uint64_t address; /* 0: empty */
	const char *function;
	uint64_t function_offset;
	uint64_t module_offset;
	uint32_t module; /* index + 1; 0: none */
};

struct module {
	struct seg_module record;
	char *path;
	char build_id[2 * SEG_BUILD_ID_MAX + 1];
};

struct site_names {
	struct name *index; /* open addressing, a power of two of slots */
	size_t size, used;
	size_t unknown; /* names without a module */
	struct module *modules;
	size_t module_count, module_room;
	int32_t pid; /* that could be asked when the names were looked up */
};

int site_names_create(struct site_names **out)
{
	struct site_names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	*out = names;
	return 0;
}

static void forget_names(struct site_names *names)
{
	free(names->index);
	names->index = NULL;
	names->size = names->used = names->unknown = 0;
}

static void forget_modules(struct site_names *names)
{
	for (size_t i = 0; i < names->module_count; i++)
		free(names->modules[i].path);
	names->module_count = 0;
}

void site_names_destroy(struct site_names *names)
{
	if (!names)
		return;
	forget_names(names);
	forget_modules(names);
	free(names->modules);
	free(names);
}

static void write_hex(char *out, const uint8_t *bytes, size_t count)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < count; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = '\0';
}

/* A module without a path is the executable. */
static int add_module(struct site_names *names, const struct seg_module *record, const char *exe)
{
	struct module *modules = snapshot_grow(names->modules, &names->module_room,
					       names->module_count + 1, sizeof(*modules));
	struct module *module;

	if (!modules)
		return -ENOMEM;
	names->modules = modules;
	module = &modules[names->module_count];
	module->record = *record;
	module->path = strdup(record->path_size ? record->path : exe);
	if (!module->path)
		return -ENOMEM;
	write_hex(module->build_id, record->build_id, record->build_id_size);
	names->module_count++;
	return 0;
}

static bool modules_kept(const struct site_names *names, const struct snapshot *now)
{
	if (now->module_count < names->module_count)
		return false;
	for (size_t i = 0; i < names->module_count; i++)
		if (memcmp(&names->modules[i].record, &now->modules[i], sizeof(now->modules[i])) !=
		    0)
			return false;
	return true;
}

/* Modules are only ever added; where that does not hold, all is forgotten. */
static int learn_modules(struct site_names *names, const struct snapshot *now, const char *exe)
{
	size_t known = names->module_count;

	if (!modules_kept(names, now)) {
		forget_names(names);
		forget_modules(names);
	}
	while (names->module_count < now->module_count) {
		int err = add_module(names, &now->modules[names->module_count], exe);

		if (err)
			return err;
	}
	if (names->module_count > known && names->unknown > 0)
		forget_names(names);
	return 0;
}

/* The last one that fits: where ranges overlap, the earlier object has been unloaded. */
static uint32_t find_module(const struct site_names *names, uint64_t address)
{
	for (size_t i = names->module_count; i > 0; i--)
		if (address >= names->modules[i - 1].record.start &&
		    address < names->modules[i - 1].record.end)
			return (uint32_t)i;
	return 0;
}

static struct name *find_name(const struct site_names *names, uint64_t address)
{
	size_t mask = names->size - 1;
	size_t at = (address * 0x9e3779b97f4a7c15u >> 32) & mask;

	while (names->index[at].address != 0 && names->index[at].address != address)
		at = (at + 1) & mask;
	return &names->index[at];
}

static int grow_index(struct site_names *names)
{
	struct site_names grown = *names;

	grown.size = names->size ? names->size * 2 : INDEX_MIN;
	grown.index = calloc(grown.size, sizeof(*grown.index));
	if (!grown.index)
		return -ENOMEM;
	for (size_t i = 0; i < names->size; i++)
		if (names->index[i].address != 0)
			*find_name(&grown, names->index[i].address) = names->index[i];
	free(names->index);
	*names = grown;
	return 0;
}

static void look_up(struct site_names *names, struct symbols *symbols, int32_t pid,
		    struct name *name)
{
	const struct module *module;
	struct symbol symbol;

	/* The return address is behind the call, maybe already in the next function. */
	name->module = find_module(names, name->address - 1);
	if (name->module == 0) {
		names->unknown++;
		return;
	}
	module = &names->modules[name->module - 1];
	name->module_offset = name->address - 1 - module->record.bias;
	symbol = symbols_lookup(symbols, module->path, pid, module->record.build_id,
				module->record.build_id_size, name->module_offset);
	name->function = symbol.function;
	name->function_offset = symbol.offset;
}

static void copy_name(const struct site_names *names, const struct name *name, struct site *site)
{
	site->function = name->function;
	site->function_offset = name->function_offset;
	site->module_offset = name->module_offset;
	if (name->module == 0)
		return;
	site->module = names->modules[name->module - 1].path;
	if (names->modules[name->module - 1].build_id[0] != '\0')
		site->build_id = names->modules[name->module - 1].build_id;
}

static int fill_site(struct site_names *names, struct symbols *symbols, int32_t pid,
		     struct site *site)
{
	struct name *name;
	int err;

	if (site->address == 0)
		return 0;
	if ((names->used + 1) * 2 > names->size) {
		err = grow_index(names);
		if (err)
			return err;
	}
	name = find_name(names, site->address);
	if (name->address == 0) {
		*name = (struct name){.address = site->address};
		names->used++;
		look_up(names, symbols, pid, name);
	}
	copy_name(names, name, site);
	return 0;
}

int site_names_fill(struct site_names *names, struct symbols *symbols, const struct snapshot *now,
		    int32_t pid, struct family *family)
{
	int err = learn_modules(names, now, family->exe);

	if (err)
		return err;
	/* Sites never vanish from an honest segment; a scribbled one must not make this grow. */
	if (names->used > 2 * family->site_count + INDEX_MIN)
		forget_names(names);
	if (names->pid == 0 && pid != 0)
		forget_names(names); /* there are more ways to find files now */
	names->pid = pid;
	for (size_t i = 0; i < family->site_count; i++) {
		err = fill_site(names, symbols, pid, &family->sites[i]);
		if (err)
			return err;
	}
	return 0;
}

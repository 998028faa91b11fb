/* SPDX-License-Identifier: MIT */
/*
 * modules.c - the loaded objects in which call sites lie.
 *
 * The caller is executing in the object, so it cannot be unloaded meanwhile and its headers can be
 * read. Records are only ever appended. Where another object was loaded later at the same place,
 * its record comes later, and a reader prefers the last one.
 */
#include "agent/modules.h"
#include "agent/base.h"
#include "agent/segment_writer.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

static struct seg_module *module_at(uint64_t index)
{
	return (struct seg_module *)segment_at(segment->regions[SEG_MODULES].offset) + index;
}

static bool is_recorded(const struct dl_find_object *object)
{
	uint64_t count = __atomic_load_n(&segment->regions[SEG_MODULES].used, __ATOMIC_ACQUIRE) /
			 sizeof(struct seg_module);
	uint64_t start = (uintptr_t)object->dlfo_map_start;

	while (count--) {
		const struct seg_module *module = module_at(count);

		if (module->start != start)
			continue;
		/* Another object may have been loaded where this one was: compare the names. */
		return !strncmp(module->path, object->dlfo_link_map->l_name, SEG_MODULE_PATH - 1);
	}
	return false;
}

/* Notes are aligned to 4 bytes; the GNU build-id's name is "GNU". */
static void read_notes(struct seg_module *module, const char *at, uint64_t size)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
		uint64_t name = (note->n_namesz + 3ull) & ~3ull;
		uint64_t whole = sizeof(*note) + name + ((note->n_descsz + 3ull) & ~3ull);

		if (whole > size)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    !memcmp(note + 1, "GNU", 4) && note->n_descsz <= SEG_BUILD_ID_MAX) {
			memcpy(module->build_id, (const char *)(note + 1) + name, note->n_descsz);
			module->build_id_size = note->n_descsz;
			return;
		}
		at += whole;
		size -= whole;
	}
}

static bool is_loaded(const ElfW(Phdr) * headers, unsigned count, const ElfW(Phdr) * part)
{
	for (unsigned i = 0; i < count; i++)
		if (headers[i].p_type == PT_LOAD && part->p_vaddr >= headers[i].p_vaddr &&
		    part->p_vaddr + part->p_filesz <= headers[i].p_vaddr + headers[i].p_filesz)
			return true;
	return false;
}

static void read_build_id(struct seg_module *module)
{
	const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)module->start;
	const ElfW(Phdr) * headers;

	if (module->end - module->start < 4096 || memcmp(elf->e_ident, ELFMAG, SELFMAG) ||
	    elf->e_phentsize != sizeof(*headers) ||
	    elf->e_phoff + elf->e_phnum * sizeof(*headers) > 4096)
		return;
	headers = (const ElfW(Phdr) *)(module->start + elf->e_phoff);
	for (unsigned i = 0; i < elf->e_phnum && !module->build_id_size; i++)
		if (headers[i].p_type == PT_NOTE && is_loaded(headers, elf->e_phnum, &headers[i]))
			read_notes(module, (const char *)(module->bias + headers[i].p_vaddr),
				   headers[i].p_filesz);
}

static void write_module(struct seg_module *module, const struct dl_find_object *object)
{
	const char *path = object->dlfo_link_map->l_name;
	size_t size = strlen(path);

	memset(module, 0, sizeof(*module));
	module->start = (uintptr_t)object->dlfo_map_start;
	module->end = (uintptr_t)object->dlfo_map_end;
	module->bias = object->dlfo_link_map->l_addr;
	if (size >= SEG_MODULE_PATH) {
		size = SEG_MODULE_PATH - 1;
		module->flags = SEG_MODULE_PATH_CUT;
	}
	memcpy(module->path, path, size);
	module->path_size = (uint32_t)size;
	read_build_id(module);
}

void modules_note(uint64_t address)
{
	struct seg_region *region = &segment->regions[SEG_MODULES];
	struct dl_find_object object;
	uint64_t used;

	if (_dl_find_object((void *)address, &object) || is_recorded(&object) || !segment_lock())
		return;
	used = region->used;
	if (is_recorded(&object)) {
		/* another thread was faster */
	} else if (segment_reserve(SEG_MODULES, used + sizeof(struct seg_module))) {
		write_module(module_at(used / sizeof(struct seg_module)), &object);
		__atomic_store_n(&region->used, used + sizeof(struct seg_module), __ATOMIC_RELEASE);
	} else {
		segment_drop(SEG_DROP_MODULES);
	}
	segment_unlock();
}

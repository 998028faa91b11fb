/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - address in a file -> function name, from .symtab, else .dynsym.
 *
 * Files are read once, on first use, and kept by (path, build-id); the names are demangled (C++,
 * Rust) on first use and live as long as `symbols`. Everything in a file is checked: it may be
 * truncated, hostile, or replaced meanwhile. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct symbols;

struct symbol {
	const char *function; /* demangled; NULL where nothing is known. Owned by `symbols` */
	uint64_t offset;      /* from the function's start; 0 without a function */
};

int symbols_create(struct symbols **out);
void symbols_destroy(struct symbols *symbols); /* accepts NULL */

/*
 * `path` is how the process saw the file; `pid` (0: none) lets it be found in the process's own
 * mount namespace by /proc/PID/root or /proc/PID/map_files. `build_id` (may be NULL) must match
 * that of the file, else nothing is known: the file was replaced. `address` is in the file's own
 * addresses (st_value). A file that cannot be used answers function NULL, never an error.
 */
struct symbol symbols_lookup(struct symbols *symbols, const char *path, int32_t pid,
			     const uint8_t *build_id, size_t build_id_size, uint64_t address);

/* How many modules were left without names because their tables exceed the memory set aside. */
size_t symbols_refused(const struct symbols *symbols);

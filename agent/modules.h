/* SPDX-License-Identifier: MIT */
/*
 * modules.h - the loaded objects in which call sites lie, written into the segment.
 *
 * An object is recorded when the first site in it is seen, found by _dl_find_object(), which takes
 * no lock and is safe in a signal handler. The loader is never asked for its list.
 */
#pragma once

#include <stdint.h>

/* Records the object around `address` unless it is known. Any thread, without the lock. */
void modules_note(uint64_t address);

/* SPDX-License-Identifier: MIT */
/*
 * directory.h - HEAPTAP_DIR: where a user's segments, server lock and token lie.
 *
 * Start-up only, one thread. Allocates nothing.
 */
#pragma once

#include "agent/config.h"

#define DIRECTORY_PATH 256

/*
 * Finds the directory to use and makes it where it is missing: HEAPTAP_DIR, else
 * /dev/shm/heaptap-<euid>. It must belong to the effective user and be writable for nobody else,
 * since what lies in it is trusted to be the user's own. A HEAPTAP_DIR that will not do is
 * remembered as a problem. Returns 0 or -errno; `path` then is the directory that failed.
 */
int directory_prepare(struct config *config, char path[DIRECTORY_PATH]);

/* Removes what processes of the past have left: segments of families that have exited, marks of
 * failed starts, and, where there are many, the oldest segments of families that were killed.
 * Does little unless the directory has become large. */
void directory_sweep(const char *path);

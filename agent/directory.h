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

/* Removes what processes of the past have left: marks of failed starts, and segments that nobody
 * has mapped any more, those with HEAPTAP_KEEP=1 excepted. Does nothing until the directory has
 * become large. */
void directory_sweep(const char *path);

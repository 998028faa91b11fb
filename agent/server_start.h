/* SPDX-License-Identifier: MIT */
/*
 * server_start.h - makes sure that a heaptap-server runs for this user and directory.
 *
 * Start-up only, one thread. Leaves no child, descriptor or signal behind in the host.
 */
#pragma once

#include "agent/config.h"

/*
 * Starts a server for `dir` unless one holds its lock already. The segment must be in place before:
 * a server that is about to end looks once more for segments after it has dropped the lock.
 * Returns 0 or -errno; -ECHILD: the host adopts orphans (pid 1, subreaper) and did not
 * name an address, so none is started. `path` is the program that was tried. It holds `room` bytes.
 */
int server_start(const struct config *config, const char *dir, char *path, size_t room);

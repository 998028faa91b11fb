/* SPDX-License-Identifier: MIT */
/*
 * log.h - what the server has to say: to the file of --log, and in the foreground to stderr. A
 * server that an agent started says nothing anywhere else. One thread.
 */
#pragma once

#include <stdbool.h>

/* `path` may be NULL. 0 or -errno of the file, which is then done without. */
int log_open(const char *path, bool to_stderr);
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* SPDX-License-Identifier: MIT */
/*
 * cli.h - the subcommands of heaptap, and what they share.
 *
 * Exit statuses: 0; 1: it did not work; 2: wrong usage. `run` has those of its command, else 125
 * (own failure), 126 (cannot be executed), 127 (not found), as env(1).
 */
#pragma once

#include "dashboard/lockfile.h"

#include <stddef.h>

#define CLI_USAGE 2

/* argv[0] is the subcommand's name. Each returns the exit status. */
int cli_run(int argc, char **argv);
int cli_ps(int argc, char **argv);
int cli_serve(int argc, char **argv);

/* "heaptap COMMAND: …" and a hint on stderr; returns CLI_USAGE. */
int cli_misused(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A path relative to the folder above that of this program. 0 or -errno. */
int cli_installed(const char *relative, char *path, size_t size);

/* HEAPTAP_DIR as in force: `given` (may be NULL), else the variable, else the default. Absolute. 0
 * or -errno. */
int cli_dir(const char *given, char *path, size_t size);

/* The page's URL at `listen`, with the token from its file where we may read it. */
void cli_page(const char *listen, const char *token_path, char *url, size_t size);

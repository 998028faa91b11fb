/* SPDX-License-Identifier: MIT */
/*
 * server_options.h - the arguments of heaptap-server.
 */
#pragma once

#include <stdbool.h>

struct server_options {
	const char *dir;
	const char *token_file; /* these three are NULL where not given */
	const char *log;
	const char *listen;
	bool foreground;
};

/* -1: run with `out`; else the exit status, after --help, --version or a message on stderr. */
int server_options_parse(int argc, char **argv, struct server_options *out);

/* Whether every path still means the same after chdir("/"). */
bool server_options_are_absolute(const struct server_options *options);

/* Where to look; to stdout. `token` may be NULL. */
void server_options_greet(const struct server_options *options, const char *listen,
			  const char *token);

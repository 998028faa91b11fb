/* SPDX-License-Identifier: MIT */
/*
 * serve.c - heaptap serve: heaptap-server in the foreground, in this very process.
 */
#include "dashboard/cli/cli.h"

#include "dashboard/address.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
	"usage: heaptap serve [--listen ADDRESS] [--token-file FILE] [--dir DIR]\n"
	"\n"
	"Runs the server in the foreground, with or without any process to show, until it is\n"
	"interrupted. Programs that start meanwhile start none of their own.\n"
	"\n"
	"  --listen ADDRESS   host:port or unix:/path (default 127.0.0.1:4327, when taken the\n"
	"                     next free port up to 4390); one that other machines can reach\n"
	"                     needs --token-file\n"
	"  --token-file FILE  token for other users (default HEAPTAP_TOKEN_FILE, else DIR/token)\n"
	"  --dir DIR          directory of the segments (default HEAPTAP_DIR, else\n"
	"                     /dev/shm/heaptap-UID)\n";

enum { OPT_LISTEN = 256, OPT_TOKEN, OPT_DIR, OPT_HELP };

static const struct option options[] = {
	{"listen", required_argument, NULL, OPT_LISTEN},
	{"token-file", required_argument, NULL, OPT_TOKEN},
	{"dir", required_argument, NULL, OPT_DIR},
	{"help", no_argument, NULL, OPT_HELP},
	{0},
};

struct serve {
	const char *listen;
	const char *token_file;
	const char *dir;
};

static int execute(const struct serve *serve)
{
	static char program[4096], dir[4096];
	const char *arguments[10] = {program, "--foreground", "--dir", dir};
	int count = 4;

	if (cli_installed(HEAPTAP_LIBEXEC_DIR "/heaptap-server", program, sizeof program) ||
	    cli_dir(serve->dir, dir, sizeof dir)) {
		fputs("heaptap serve: path too long\n", stderr);
		return EXIT_FAILURE;
	}
	if (serve->token_file) {
		arguments[count++] = "--token-file";
		arguments[count++] = serve->token_file;
	}
	if (serve->listen) {
		arguments[count++] = "--listen";
		arguments[count++] = serve->listen;
	}
	arguments[count] = NULL;
	execv(program, (char *const *)arguments);
	fprintf(stderr, "heaptap serve: %s: %s\n", program, strerror(errno));
	return EXIT_FAILURE;
}

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

int cli_serve(int argc, char **argv)
{
	struct serve serve = {.token_file = setting("HEAPTAP_TOKEN_FILE")};
	struct address address;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == OPT_HELP) {
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		}
		if (option == OPT_LISTEN)
			serve.listen = optarg;
		else if (option == OPT_TOKEN)
			serve.token_file = optarg;
		else if (option == OPT_DIR)
			serve.dir = optarg;
		else
			return cli_misused("serve", "bad usage");
	}
	if (optind < argc)
		return cli_misused("serve", "unexpected argument '%s'", argv[optind]);
	if (serve.listen && address_parse(serve.listen, &address))
		return cli_misused("serve", "--listen %s: an address is host:port or unix:/path",
				   serve.listen);
	return execute(&serve);
}

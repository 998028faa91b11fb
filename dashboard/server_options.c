/* SPDX-License-Identifier: MIT */
/*
 * server_options.c - the arguments of heaptap-server; see server_options.h.
 */
#include "dashboard/server_options.h"

#include "dashboard/address.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char usage[] =
	"usage: heaptap-server [--dir DIR] [--token-file FILE] [--log FILE]\n"
	"                      [--foreground] [--listen ADDRESS]\n"
	"\n"
	"Shows every process that runs with libheaptap.so, by HTTP. The library starts it when\n"
	"it is needed; `heaptap serve` runs it in the foreground.\n"
	"\n"
	"  --dir DIR          directory of the segments (default /dev/shm/heaptap-UID)\n"
	"  --token-file FILE  token for other users (default DIR/token, made when absent)\n"
	"  --log FILE         append messages to FILE\n"
	"  --foreground       stay, and run on without any process to show\n"
	"  --listen ADDRESS   host:port or unix:/path (default 127.0.0.1:4327, when taken the\n"
	"                     next free port up to 4390); one that other machines can reach\n"
	"                     needs --token-file\n"
	"  --help, --version\n";

enum { OPT_DIR = 256, OPT_TOKEN, OPT_LOG, OPT_FOREGROUND, OPT_LISTEN, OPT_HELP, OPT_VERSION };

static const struct option options[] = {
	{"dir", required_argument, NULL, OPT_DIR},
	{"token-file", required_argument, NULL, OPT_TOKEN},
	{"log", required_argument, NULL, OPT_LOG},
	{"foreground", no_argument, NULL, OPT_FOREGROUND},
	{"listen", required_argument, NULL, OPT_LISTEN},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{0},
};

static const char *default_dir(void)
{
	static char path[64];

	snprintf(path, sizeof path, "/dev/shm/heaptap-%u", (unsigned)geteuid());
	return path;
}

static int refuse(const char *what, const char *why)
{
	fprintf(stderr, "heaptap-server: %s: %s\n", what, why);
	return 2;
}

static int check(const struct server_options *out)
{
	struct address address;

	if (!out->dir[0])
		return refuse("--dir", "must not be empty");
	if (out->listen && address_parse(out->listen, &address))
		return refuse(out->listen, "an address is host:port or unix:/path");
	return -1;
}

static int take(int option, struct server_options *out)
{
	switch (option) {
	case OPT_DIR:
		out->dir = optarg;
		return -1;
	case OPT_TOKEN:
		out->token_file = optarg;
		return -1;
	case OPT_LOG:
		out->log = optarg;
		return -1;
	case OPT_FOREGROUND:
		out->foreground = true;
		return -1;
	case OPT_LISTEN:
		out->listen = optarg;
		return -1;
	case OPT_HELP:
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	case OPT_VERSION:
		puts("heaptap-server " HEAPTAP_VERSION);
		return EXIT_SUCCESS;
	default:
		fputs("try: heaptap-server --help\n", stderr);
		return 2;
	}
}

int server_options_parse(int argc, char **argv, struct server_options *out)
{
	struct server_options parsed = {.dir = default_dir()};
	int option, status;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		status = take(option, &parsed);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return refuse(argv[optind], "unexpected argument; try: heaptap-server --help");
	status = check(&parsed);
	if (status < 0)
		*out = parsed;
	return status;
}

static bool is_absolute(const char *path)
{
	return !path || path[0] == '/';
}

bool server_options_are_absolute(const struct server_options *given)
{
	return is_absolute(given->dir) && is_absolute(given->token_file) && is_absolute(given->log);
}

void server_options_greet(const struct server_options *given, const char *listen, const char *token)
{
	char url[160];

	address_url(listen, url, sizeof url);
	if (!url[0])
		printf("heaptap: serving %s at %s\n", given->dir, listen);
	else if (token)
		printf("heaptap: serving %s at %s/#token=%s\n", given->dir, url, token);
	else
		printf("heaptap: serving %s at %s\n", given->dir, url);
	fflush(stdout);
}

/* SPDX-License-Identifier: MIT */
/*
 * run.c - heaptap run: sets the environment, says where the page is, and becomes the command. Same
 * pid, same signals, same exit status; nothing of heaptap is left but the library.
 */
#include "dashboard/cli/cli.h"

#include "agent/segment.h"
#include "dashboard/address.h"
#include "dashboard/cli/program.h"
#include "dashboard/token.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_OWN      125
#define EXIT_EXECUTE  126
#define EXIT_NO_ENTRY 127

static const char usage[] =
	"usage: heaptap run [--listen ADDRESS] [--dir DIR] [--memory SIZE] [--keep] [--]\n"
	"                   COMMAND [ARGUMENT]...\n"
	"\n"
	"Runs COMMAND with libheaptap.so preloaded, and prints the address of its page.\n"
	"\n"
	"  --listen ADDRESS  an address of its own: host:port, unix:/path; or off: start no\n"
	"                    server (default 127.0.0.1:4327, when taken the next free port)\n"
	"  --dir DIR         where the counts are kept (default /dev/shm/heaptap-UID)\n"
	"  --memory SIZE     how much memory they may take: 1M to 1G (default 8M)\n"
	"  --keep            keep them when the program has ended\n"
	"\n"
	"The exit status is that of COMMAND; 125 if heaptap fails, 126 if COMMAND cannot be\n"
	"executed, 127 if it cannot be found.\n";

enum { OPT_LISTEN = 256, OPT_DIR, OPT_MEMORY, OPT_KEEP, OPT_HELP };

static const struct option options[] = {
	{"listen", required_argument, NULL, OPT_LISTEN}, {"dir", required_argument, NULL, OPT_DIR},
	{"memory", required_argument, NULL, OPT_MEMORY}, {"keep", no_argument, NULL, OPT_KEEP},
	{"help", no_argument, NULL, OPT_HELP},		 {0},
};

struct run {
	const char *listen; /* NULL where not given */
	const char *given_dir;
	char dir[4096];
	char agent[4096];
	const char *token_path;
	char default_token[4200];
};

/* As the agent reads HEAPTAP_MEMORY. */
static bool is_memory(const char *text)
{
	static const char units[] = "kKmMgG";
	char *end;
	unsigned long long value = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (text[0] < '0' || text[0] > '9' || value > SEG_SIZE_MAX || (*end && (!unit || end[1])))
		return false;
	if (unit)
		value <<= 10 * ((unit - units) / 2 + 1);
	return value >= SEG_SIZE_MIN && value <= SEG_SIZE_MAX;
}

static int take(int option, struct run *run)
{
	struct address address;

	switch (option) {
	case OPT_LISTEN:
		run->listen = optarg;
		if (strcmp(optarg, "off") != 0 && address_parse(optarg, &address))
			return cli_misused(
				"run", "--listen %s: an address is host:port, unix:/path or off",
				optarg);
		return setenv("HEAPTAP_LISTEN", optarg, 1) ? EXIT_OWN : -1;
	case OPT_DIR:
		run->given_dir = optarg;
		return -1;
	case OPT_MEMORY:
		if (!is_memory(optarg))
			return cli_misused("run", "--memory %s: a size is 1M to 1G", optarg);
		return setenv("HEAPTAP_MEMORY", optarg, 1) ? EXIT_OWN : -1;
	case OPT_KEEP:
		return setenv("HEAPTAP_KEEP", "1", 1) ? EXIT_OWN : -1;
	case OPT_HELP:
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	default:
		return cli_misused("run", "bad usage");
	}
}

static int parse(int argc, char **argv, struct run *run)
{
	int option, status;

	/* "+": the command's own options are not ours. */
	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		status = take(option, run);
		if (status >= 0)
			return status;
	}
	if (optind == argc)
		return cli_misused("run", "a command is missing");
	return -1;
}

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "heaptap run: %s: %s\n", what, why);
	return EXIT_OWN;
}

static int find_agent(struct run *run)
{
	if (cli_installed(HEAPTAP_AGENT_DIR "/libheaptap.so", run->agent, sizeof run->agent))
		return fail("libheaptap.so", "path too long");
	if (access(run->agent, R_OK))
		return fail(run->agent,
			    "the library that belongs to this program is missing; install both");
	if (strpbrk(run->agent, " :"))
		return fail(run->agent, "a path with a blank or colon cannot be preloaded");
	return -1;
}

/* The token is made before the server so that its page's address can be told at once. */
static void prepare_dir(struct run *run)
{
	const char *own = getenv("HEAPTAP_TOKEN_FILE");
	char token[TOKEN_MAX + 1];

	snprintf(run->default_token, sizeof run->default_token, "%s/token", run->dir);
	run->token_path = own && own[0] ? own : run->default_token;
	if (mkdir(run->dir, 0700) == 0 || errno == EEXIST)
		token_make(run->token_path, token);
}

static void say_prediction(const struct run *run)
{
	char listen[32], url[512];
	uint16_t port;
	int fd = address_listen_default(&port);

	if (fd < 0) {
		fputs("heaptap: no port from 4327 to 4390 is free on 127.0.0.1: no page, unless "
		      "with --listen\n",
		      stderr);
		return;
	}
	close(fd);
	snprintf(listen, sizeof listen, "127.0.0.1:%u", port);
	cli_page(listen, run->token_path, url, sizeof url);
	fprintf(stderr,
		"heaptap: the page will be at %s (if that port is still free then; "
		"'heaptap ps' tells)\n",
		url);
}

static void say_address(const struct run *run)
{
	const char *listen = run->listen ? run->listen : getenv("HEAPTAP_LISTEN");
	struct lockfile_info server = {0};
	struct address address;
	char url[512];

	if (listen && strcmp(listen, "off") == 0) {
		fputs("heaptap: no server is started; 'heaptap serve' shows the page\n", stderr);
		return;
	}
	if (listen && listen[0] && address_parse(listen, &address) == 0) {
		cli_page(listen, run->token_path, url, sizeof url);
		fprintf(stderr, "heaptap: the page will be at %s\n", url);
		return;
	}
	if (lockfile_read(run->dir, &server) == 0 && server.alive && server.listen[0]) {
		cli_page(server.listen, server.token, url, sizeof url);
		fprintf(stderr, "heaptap: the page is at %s\n", url);
	} else {
		say_prediction(run);
	}
	lockfile_destroy(&server);
}

static int preload(const struct run *run)
{
	const char *before = getenv("LD_PRELOAD");
	char *value = NULL;
	int err;

	if (before && before[0]) {
		if (asprintf(&value, "%s:%s", run->agent, before) < 0)
			return -ENOMEM;
	} else {
		value = strdup(run->agent);
	}
	err = value && setenv("LD_PRELOAD", value, 1) == 0 ? 0 : -ENOMEM;
	free(value);
	return err;
}

static const char *obstacle(enum program_kind kind)
{
	switch (kind) {
	case PROGRAM_STATIC:
		return "is statically linked, so that nothing can be preloaded into it";
	case PROGRAM_SETUID:
		return "gains privileges, so that the loader refuses to preload anything";
	case PROGRAM_FOREIGN:
		return "is for another architecture or C library than libheaptap.so";
	case PROGRAM_SANITIZED:
		return "is built with a sanitizer, which has an allocator of its own";
	case PROGRAM_GOOD:
		break;
	}
	return NULL;
}

/* The children of a static program may be dynamic; the loaders of the last two kinds would complain
 * or give up. */
static bool may_preload(enum program_kind kind)
{
	return kind != PROGRAM_FOREIGN && kind != PROGRAM_SANITIZED;
}

static int execute(char **command)
{
	int err;

	execvp(command[0], command);
	err = errno;
	fprintf(stderr, "heaptap run: %s: %s\n", command[0], strerror(err));
	return err == ENOENT ? EXIT_NO_ENTRY : EXIT_EXECUTE;
}

int cli_run(int argc, char **argv)
{
	static struct run run;
	char path[4096];
	enum program_kind kind;
	int status = parse(argc, argv, &run);

	if (status < 0 && cli_dir(run.given_dir, run.dir, sizeof run.dir))
		status = fail("--dir", "path too long");
	if (status < 0)
		status = find_agent(&run);
	if (status >= 0)
		return status;
	if (program_find(argv[optind], path, sizeof path))
		return execute(argv + optind); /* for its errno */
	kind = program_kind(path);
	if (run.given_dir && setenv("HEAPTAP_DIR", run.dir, 1))
		return fail("HEAPTAP_DIR", strerror(errno));
	if (may_preload(kind) && preload(&run))
		return fail("LD_PRELOAD", strerror(ENOMEM));
	if (getenv("HEAPTAP") && strcmp(getenv("HEAPTAP"), "off") == 0) {
		fprintf(stderr, "heaptap: HEAPTAP=off is set: %s runs unobserved\n", path);
	} else if (obstacle(kind)) {
		fprintf(stderr, "heaptap: %s %s: it runs unobserved\n", path, obstacle(kind));
	} else {
		prepare_dir(&run);
		say_address(&run);
	}
	return execute(argv + optind);
}

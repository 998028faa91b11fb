/* SPDX-License-Identifier: MIT */
/*
 * main.c - heaptap, the command line: finds the subcommand.
 */
#include "dashboard/cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"run", cli_run, "run a command and show where it allocates"},
	{"ps", cli_ps, "list the processes that are observed, and their pages"},
	{"serve", cli_serve, "run the server in the foreground"},
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static void print_commands(FILE *out)
{
	fputs("commands:\n", out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-6s %s\n", commands[i].name, commands[i].summary);
}

static void print_help(void)
{
	puts("usage: heaptap COMMAND ...\n"
	     "\n"
	     "Shows, live, where a process allocates memory.\n");
	print_commands(stdout);
	puts("\n"
	     "  heaptap COMMAND --help tells more; heaptap --version\n"
	     "\n"
	     "Without this command: LD_PRELOAD=.../libheaptap.so PROGRAM, and then the page is at\n"
	     "http://127.0.0.1:4327 or the next free port. A program's environment may hold\n"
	     "\n"
	     "  HEAPTAP=off           do nothing\n"
	     "  HEAPTAP_LISTEN        address of its page: host:port, unix:/path, or off\n"
	     "  HEAPTAP_TOKEN_FILE    file with the token that lets other users in\n"
	     "  HEAPTAP_DIR           where the counts are kept (default /dev/shm/heaptap-UID)\n"
	     "  HEAPTAP_MEMORY        how much memory they may take (default 8M)\n"
	     "  HEAPTAP_KEEP=1        keep them when the program has ended\n"
	     "  HEAPTAP_CHILDREN=off  do not observe forked children\n"
	     "  HEAPTAP_LOG           file for messages of the library and the server");
}

int cli_misused(const char *command, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "heaptap %s: ", command);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\ntry: heaptap %s --help\n", command);
	return CLI_USAGE;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(name, commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		print_help();
		return EXIT_SUCCESS;
	}
	if (strcmp(name, "--version") == 0) {
		puts("heaptap " HEAPTAP_VERSION);
		return EXIT_SUCCESS;
	}
	if (name[0])
		fprintf(stderr, "heaptap: there is no command '%s'\n", name);
	fputs("usage: heaptap COMMAND ... (heaptap --help tells more)\n", stderr);
	print_commands(stderr);
	return CLI_USAGE;
}

/* SPDX-License-Identifier: MIT */
/*
 * ps.c - heaptap ps: what is observed, at which page, and what is not and why.
 *
 * Reads the segments itself, so that it tells the truth without a server, too. Rates are those of
 * the 300 ms between two looks.
 */
#include "dashboard/cli/cli.h"

#include "dashboard/buf.h"
#include "dashboard/cli/unseen.h"
#include "dashboard/families.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS	   300000000l
#define NAME_WIDTH 16

static const char usage[] =
	"usage: heaptap ps [--json] [--dir DIR]\n"
	"\n"
	"Lists the processes that run with libheaptap.so: allocations per second, bytes\n"
	"alive, and the page, whose address holds the token: give it to nobody who must\n"
	"not look. What is wrong stands below a line.\n"
	"\n"
	"  --json     the same for programs\n"
	"  --dir DIR  directory of the segments (default HEAPTAP_DIR, else\n"
	"             /dev/shm/heaptap-UID)\n";

enum { OPT_JSON = 256, OPT_DIR, OPT_HELP };

static const struct option options[] = {
	{"json", no_argument, NULL, OPT_JSON},
	{"dir", required_argument, NULL, OPT_DIR},
	{"help", no_argument, NULL, OPT_HELP},
	{0},
};

struct before { /* of one family at the first look */
	char id[48];
	uint64_t alloc_count;
};

struct ps {
	char dir[4096];
	bool json;
	struct lockfile_info server;
	struct families *families; /* NULL where there is no directory */
	const struct model *model;
	struct before *before;
	size_t before_count;
	uint64_t before_ns;
	struct unseen_list unseen;
};

static int remember(struct ps *ps)
{
	ps->before = calloc(ps->model->family_count + 1, sizeof *ps->before);
	if (!ps->before)
		return -ENOMEM;
	ps->before_ns = ps->model->now_ns;
	ps->before_count = ps->model->family_count;
	for (size_t i = 0; i < ps->before_count; i++) {
		const struct family *family = &ps->model->families[i];

		snprintf(ps->before[i].id, sizeof ps->before[i].id, "%s", family->id);
		ps->before[i].alloc_count = family->total.alloc_count;
	}
	return 0;
}

static double rate(const struct ps *ps, const struct family *family)
{
	uint64_t window = ps->model->now_ns - ps->before_ns;

	for (size_t i = 0; i < ps->before_count; i++)
		if (strcmp(ps->before[i].id, family->id) == 0)
			return model_rate(family->total.alloc_count, ps->before[i].alloc_count,
					  window);
	return 0;
}

/* What the server found out about the addresses that the families asked for. */
static void take_problems(struct ps *ps)
{
	char message[512];

	for (size_t i = 0; i < ps->before_count; i++)
		if (ps->server.alive && lockfile_problem(&ps->server, ps->before[i].id, message))
			families_set_problem(ps->families, ps->before[i].id, "listen", message);
}

static bool is_known(const void *context, int32_t pid)
{
	const struct model *model = context;

	return model && model_find(model, pid);
}

static int look(struct ps *ps)
{
	struct timespec pause = {0, LOOK_NS};
	int err = families_create(ps->dir, &ps->families);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = families_model(ps->families, &ps->model);
	if (err == 0)
		err = remember(ps);
	if (err == 0)
		take_problems(ps);
	if (err == 0 && families_live(ps->families) > 0) {
		nanosleep(&pause, NULL);
		families_tick(ps->families);
		err = families_model(ps->families, &ps->model);
	}
	return err;
}

static void page_of(const struct ps *ps, const struct family *family, char *url, size_t size)
{
	const char *listen = ps->server.listen;
	const char *token = ps->server.token;
	char own[128];

	url[0] = '\0';
	if (!ps->server.alive)
		return;
	if (lockfile_family(&ps->server, family->id, own)) {
		listen = own;
		token = family->token_file[0] ? family->token_file : token;
	}
	if (listen[0])
		cli_page(listen, token, url, size);
}

/* What a terminal could take for a command is shown as '?'. Returns the width. */
static int put_plain(const char *text)
{
	struct buf clean = {0};
	int width = 0;

	buf_add_utf8(&clean, text);
	for (size_t i = 0; i < clean.size; i++) {
		unsigned char byte = (unsigned char)clean.data[i];
		bool is_c1 = byte == 0xc2 && (unsigned char)clean.data[i + 1] < 0xa0;

		putchar(byte < 0x20 || byte == 0x7f || is_c1 ? '?' : byte);
		width += (byte & 0xc0) != 0x80;
		i += is_c1;
	}
	buf_destroy(&clean);
	return width;
}

static void put_start(int32_t pid, const char *name)
{
	int width;

	printf("%7d ", pid);
	width = put_plain(name);
	printf("%*s", width < NAME_WIDTH ? NAME_WIDTH - width : 0, "");
}

static void put_size(int64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	size_t unit = 0;
	char text[32];

	while ((value >= 1024 || value <= -1024) && unit < 4) {
		value /= 1024;
		unit++;
	}
	snprintf(text, sizeof text, "%.*f %s", unit ? 1 : 0, value, units[unit]);
	printf("%11s", text);
}

static void put_family(const struct ps *ps, const struct family *family)
{
	char url[4400], state[32];

	page_of(ps, family, url, sizeof url);
	if (family->ended)
		snprintf(state, sizeof state, "ended");
	else if (family->live_processes > 1)
		snprintf(state, sizeof state, "live (%zu)", family->live_processes);
	else
		snprintf(state, sizeof state, "live");
	put_start(family->pid, family->name);
	printf(" %12.1f ", rate(ps, family));
	put_size((int64_t)(family->total.usable_bytes - family->total.free_bytes));
	printf("  %-10s  %s\n", state, url[0] ? url : "-");
	for (size_t i = 0; i < family->problem_count; i++) {
		printf("        ! %s: ", family->problems[i].code);
		put_plain(family->problems[i].message);
		putchar('\n');
	}
}

static void put_unseen(const struct unseen *unseen)
{
	put_start(unseen->pid, unseen->name);
	printf(" %12s %11s  %-10s  -\n        ! ", "-", "-", "unobserved");
	put_plain(unseen->message);
	putchar('\n');
}

static int print_table(const struct ps *ps)
{
	size_t count = ps->model ? ps->model->family_count : 0;

	if (count == 0 && ps->unseen.count == 0) {
		printf("nothing is observed in %s\nstart a program with: heaptap run -- COMMAND\n",
		       ps->dir);
		return EXIT_SUCCESS;
	}
	printf("%7s %-16s %12s %11s  %-10s  %s\n", "PID", "NAME", "ALLOCS/S", "LIVE", "STATE",
	       "URL");
	for (size_t i = 0; i < count; i++)
		put_family(ps, &ps->model->families[i]);
	for (size_t i = 0; i < ps->unseen.count; i++)
		put_unseen(&ps->unseen.items[i]);
	if (!ps->server.alive)
		puts("no server runs; start one with: heaptap serve");
	return EXIT_SUCCESS;
}

static void add_member(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, "\"%s\":", key);
	buf_add_json(out, text);
	buf_add_text(out, ",");
}

static void add_family(struct buf *out, const struct ps *ps, const struct family *family)
{
	char url[4400];

	page_of(ps, family, url, sizeof url);
	buf_add_text(out, "{");
	add_member(out, "id", family->id);
	add_member(out, "name", family->name);
	add_member(out, "cmdline", family->cmdline);
	add_member(out, "url", url[0] ? url : NULL);
	buf_printf(out,
		   "\"pid\":%d,\"ended\":%s,\"processes\":%zu,\"allocs_per_s\":%.1f,"
		   "\"live_bytes\":%" PRId64 ",\"live_count\":%" PRId64 ",\"problems\":[",
		   family->pid, family->ended ? "true" : "false", family->live_processes,
		   rate(ps, family),
		   (int64_t)(family->total.usable_bytes - family->total.free_bytes),
		   (int64_t)(family->total.alloc_count - family->total.free_count));
	for (size_t i = 0; i < family->problem_count; i++) {
		buf_add_text(out, i > 0 ? ",{" : "{");
		add_member(out, "code", family->problems[i].code);
		buf_add_text(out, "\"message\":");
		buf_add_json(out, family->problems[i].message);
		buf_add_text(out, "}");
	}
	buf_add_text(out, "]}");
}

static void add_unseen(struct buf *out, const struct unseen *unseen)
{
	buf_printf(out, "{\"pid\":%d,", unseen->pid);
	add_member(out, "name", unseen->name);
	buf_add_text(out, "\"message\":");
	buf_add_json(out, unseen->message);
	buf_add_text(out, "}");
}

static int print_json(const struct ps *ps)
{
	struct buf out = {0};

	buf_add_text(&out, "{");
	add_member(&out, "dir", ps->dir);
	if (ps->server.alive) {
		buf_printf(&out, "\"server\":{\"pid\":%d,\"listen\":", ps->server.pid);
		buf_add_json(&out, ps->server.listen[0] ? ps->server.listen : NULL);
		buf_add_text(&out, "},\"families\":[");
	} else {
		buf_add_text(&out, "\"server\":null,\"families\":[");
	}
	for (size_t i = 0; ps->model && i < ps->model->family_count; i++) {
		buf_add_text(&out, i > 0 ? "," : "");
		add_family(&out, ps, &ps->model->families[i]);
	}
	buf_add_text(&out, "],\"unobserved\":[");
	for (size_t i = 0; i < ps->unseen.count; i++) {
		buf_add_text(&out, i > 0 ? "," : "");
		add_unseen(&out, &ps->unseen.items[i]);
	}
	buf_add_text(&out, "]}");
	if (!out.failed)
		puts(out.data);
	buf_destroy(&out);
	return out.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int list(struct ps *ps)
{
	int err = lockfile_read(ps->dir, &ps->server);

	if (err == 0)
		err = look(ps);
	if (err == 0)
		err = unseen_find(ps->dir, is_known, ps->model, &ps->unseen);
	if (err) {
		fprintf(stderr, "heaptap ps: %s: %s\n", ps->dir,
			err == -EPERM ? "others may write to it: not trusted" : strerror(-err));
		return EXIT_FAILURE;
	}
	return ps->json ? print_json(ps) : print_table(ps);
}

int cli_ps(int argc, char **argv)
{
	static struct ps ps;
	const char *dir = NULL;
	int option, status;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == OPT_HELP) {
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		}
		if (option == OPT_JSON)
			ps.json = true;
		else if (option == OPT_DIR)
			dir = optarg;
		else
			return cli_misused("ps", "bad usage");
	}
	if (optind < argc)
		return cli_misused("ps", "unexpected argument '%s'", argv[optind]);
	if (cli_dir(dir, ps.dir, sizeof ps.dir))
		return cli_misused("ps", "path too long");
	status = list(&ps);
	free(ps.unseen.items);
	free(ps.before);
	lockfile_destroy(&ps.server);
	families_destroy(ps.families);
	return status;
}

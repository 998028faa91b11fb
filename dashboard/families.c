/* SPDX-License-Identifier: MIT */
/*
 * families.c - the directory of segments and the list of families.
 *
 * A segment that appears may not be ready yet: it waits in a list and is tried again at every
 * tick. What does not fit into the lists is looked for anew when there is room again.
 */
#include "dashboard/families.h"
#include "dashboard/clock.h"
#include "dashboard/family_watch.h"
#include "dashboard/prune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	LIVE_MAX = 256,
	ENDED_MAX = 64,
	ENDED_BYTES_MAX = 16 << 20,
	WAITING_MAX = 64,
	WAIT_SECONDS = 10, /* for the magic; the agent takes a millisecond */
};

#define SECOND	   1000000000u
#define MODEL_AGE  50000000u
#define BASE_EVERY 950000000u /* ticks come every 100 ms, give or take */

struct waiting {
	char name[64];
	bool born; /* appeared while we watched: worth showing even if it has ended by now */
	uint64_t since_ns;
};

struct families {
	int dirfd, inotify;
	uid_t owner;
	struct symbols *symbols;
	struct family_watch *watches[LIVE_MAX + ENDED_MAX]; /* in order of birth */
	size_t count;
	struct waiting waiting[WAITING_MAX];
	size_t waiting_count;
	size_t refused; /* living families that found no place, at the last look */
	bool look_again;
	uint64_t base_ns;  /* when the last base was taken; CLOCK_MONOTONIC, as below */
	uint64_t model_ns; /* when the model was made; 0: none */
	struct model model;
	struct family list[LIVE_MAX + ENDED_MAX];
};

/* --- the list --- */

static void remove_watch(struct families *families, size_t index)
{
	family_watch_close(families->watches[index]);
	families->count--;
	memmove(&families->watches[index], &families->watches[index + 1],
		(families->count - index) * sizeof(families->watches[0]));
	families->model_ns = 0;
}

size_t families_live(const struct families *families)
{
	size_t live = 0;

	for (size_t i = 0; i < families->count; i++)
		live += family_watch_live(families->watches[i]);
	return live;
}

/* Drops the oldest ended families above the bounds; the newest one always stays. */
static void bound_ended(struct families *families)
{
	size_t ended = 0, bytes = 0;

	for (size_t i = families->count; i > 0; i--) {
		const struct family_watch *watch = families->watches[i - 1];

		if (family_watch_live(watch))
			continue;
		ended++;
		bytes += family_watch_bytes(watch);
		if (ended > ENDED_MAX || (ended > 1 && bytes > ENDED_BYTES_MAX))
			remove_watch(families, i - 1);
	}
}

static bool is_known(const struct families *families, const char *name)
{
	for (size_t i = 0; i < families->count; i++)
		if (strcmp(family_watch_name(families->watches[i]), name) == 0)
			return true;
	for (size_t i = 0; i < families->waiting_count; i++)
		if (strcmp(families->waiting[i].name, name) == 0)
			return true;
	return false;
}

static bool is_segment_name(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && length < sizeof(((struct waiting *)0)->name) && name[0] >= '1' &&
	       name[0] <= '9' && strcmp(name + length - 4, ".seg") == 0;
}

/* 0: it is watched now, or never will be; -EAGAIN: not ready; -ENOSPC: no place; -errno. */
static int try_watch(struct families *families, const char *name, bool born)
{
	struct family_watch *watch;
	int err;

	if (families_live(families) >= LIVE_MAX) {
		families->refused++;
		families->look_again = true;
		return -ENOSPC;
	}
	err = family_watch_open(families->dirfd, name, families->owner, born, &watch);
	if (err == -EAGAIN || err == -ENOMEM || err == -EMFILE || err == -ENFILE)
		return err;
	if (err)
		return 0;
	if (families->count == LIVE_MAX + ENDED_MAX)
		bound_ended(families);
	family_watch_take_base(watch);
	families->watches[families->count++] = watch;
	families->model_ns = 0;
	bound_ended(families);
	return 0;
}

static void add_name(struct families *families, const char *name, bool born)
{
	struct waiting *waiting;
	int err;

	if (!is_segment_name(name) || is_known(families, name))
		return;
	err = try_watch(families, name, born);
	if (err == 0 || err == -ENOSPC)
		return;
	if (families->waiting_count == WAITING_MAX) {
		families->look_again = true;
		return;
	}
	waiting = &families->waiting[families->waiting_count++];
	snprintf(waiting->name, sizeof(waiting->name), "%s", name);
	waiting->born = born;
	waiting->since_ns = clock_ns(CLOCK_MONOTONIC);
}

static void try_waiting(struct families *families, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < families->waiting_count; i++) {
		struct waiting waiting = families->waiting[i];
		int err = try_watch(families, waiting.name, waiting.born);

		if (err != 0 && err != -ENOSPC && now - waiting.since_ns < WAIT_SECONDS * SECOND)
			families->waiting[kept++] = waiting;
	}
	families->waiting_count = kept;
}

/* --- the directory --- */

static int scan(struct families *families)
{
	int fd = openat(families->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry;
	DIR *stream;

	if (fd < 0)
		return -errno;
	stream = fdopendir(fd);
	if (!stream) {
		close(fd);
		return -ENOMEM;
	}
	families->refused = 0;
	families->look_again = false;
	while ((entry = readdir(stream)) != NULL)
		add_name(families, entry->d_name, false);
	closedir(stream);
	return 0;
}

static int check_directory(int dirfd, uid_t *owner)
{
	struct stat st;

	if (fstat(dirfd, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if ((st.st_mode & 022) || (st.st_uid != geteuid() && geteuid() != 0))
		return -EPERM;
	*owner = st.st_uid;
	return 0;
}

static int watch_directory(struct families *families, const char *dir)
{
	char path[64];

	families->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (families->dirfd < 0)
		return -errno;
	families->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (families->inotify < 0)
		return -errno;
	/* By descriptor, so that it is the very directory that was checked. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", families->dirfd);
	if (inotify_add_watch(families->inotify, path, IN_CREATE | IN_MOVED_TO) < 0 &&
	    inotify_add_watch(families->inotify, dir, IN_CREATE | IN_MOVED_TO) < 0)
		return -errno;
	return check_directory(families->dirfd, &families->owner);
}

int families_create(const char *dir, struct families **out)
{
	struct families *families = calloc(1, sizeof(*families));
	int err;

	if (!families)
		return -ENOMEM;
	families->dirfd = families->inotify = -1;
	err = watch_directory(families, dir);
	if (!err)
		err = symbols_create(&families->symbols);
	if (!err)
		err = scan(families);
	if (err) {
		families_destroy(families);
		return err;
	}
	families->base_ns = clock_ns(CLOCK_MONOTONIC);
	*out = families;
	return 0;
}

void families_destroy(struct families *families)
{
	if (!families)
		return;
	for (size_t i = 0; i < families->count; i++)
		family_watch_close(families->watches[i]);
	symbols_destroy(families->symbols);
	if (families->inotify >= 0)
		close(families->inotify);
	if (families->dirfd >= 0)
		close(families->dirfd);
	free(families);
}

int families_fd(const struct families *families)
{
	return families->inotify;
}

int families_events(struct families *families)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

	for (;;) {
		ssize_t got = read(families->inotify, buffer, sizeof(buffer));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 && errno != EAGAIN ? -errno : 0;
		for (char *at = buffer; at < buffer + got;) {
			const struct inotify_event *event = (const struct inotify_event *)at;

			if (event->mask & IN_Q_OVERFLOW)
				families->look_again = true;
			else if (event->len > 0)
				add_name(families, event->name, true);
			at += sizeof(*event) + event->len;
		}
	}
}

int families_rescan(struct families *families)
{
	int err = families_events(families);

	if (!err)
		err = scan(families);
	for (size_t i = 0; i < families->count && !err; i++)
		family_watch_probe(families->watches[i]);
	return err ? err : (int)families_live(families);
}

int families_tick(struct families *families)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool second = now - families->base_ns >= BASE_EVERY;

	families->model_ns = 0;
	try_waiting(families, now);
	for (size_t i = 0; i < families->count; i++)
		if (second || family_watch_live(families->watches[i]))
			family_watch_probe(families->watches[i]);
	bound_ended(families);
	if (!second)
		return 0;
	families->base_ns = now;
	for (size_t i = 0; i < families->count; i++)
		family_watch_take_base(families->watches[i]);
	if (families->look_again)
		return scan(families);
	return 0;
}

/* --- the model --- */

static int compare_families(const void *left, const void *right)
{
	const struct family *a = left, *b = right;
	double rate_a, rate_b;

	if (a->ended != b->ended)
		return a->ended ? 1 : -1;
	rate_a = model_rate(a->total.alloc_count, a->base.alloc_count, a->window_ns);
	rate_b = model_rate(b->total.alloc_count, b->base.alloc_count, b->window_ns);
	if (rate_a != rate_b)
		return rate_a > rate_b ? -1 : 1;
	if (a->total.alloc_count != b->total.alloc_count)
		return a->total.alloc_count > b->total.alloc_count ? -1 : 1;
	return strcmp(a->id, b->id);
}

/* What was left out for want of room is said with every family: nothing is lost silently. */
static void tell_refused(struct families *families, struct family_watch *watch)
{
	size_t modules = symbols_refused(families->symbols);
	char message[160];

	snprintf(message, sizeof(message),
		 "%zu more processes than the %d that can be shown at a time are being recorded",
		 families->refused, LIVE_MAX);
	family_watch_set_problem(watch, "families", families->refused ? message : NULL);
	snprintf(message, sizeof(message),
		 "The symbols of %zu programs or libraries need too much memory; their functions "
		 "have no names",
		 modules);
	family_watch_set_problem(watch, "symbols", modules ? message : NULL);
}

int families_model(struct families *families, const struct model **out)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int err;

	if (families->model_ns == 0 || now - families->model_ns >= MODEL_AGE) {
		for (size_t i = 0; i < families->count; i++) {
			tell_refused(families, families->watches[i]);
			/* A damaged segment is a problem of its family, not of the model. */
			err = family_watch_build(families->watches[i], families->symbols);
			if (err == -ENOMEM)
				return err;
			families->list[i] = *family_watch_family(families->watches[i]);
		}
		if (families->count > 1)
			qsort(families->list, families->count, sizeof(families->list[0]),
			      compare_families);
		families->model.now_ns = clock_ns(CLOCK_REALTIME);
		families->model.families = families->list;
		families->model.family_count = families->count;
		families->model_ns = now;
	}
	*out = &families->model;
	return 0;
}

bool families_wish(const struct families *families, size_t index, struct family_wish *out)
{
	const struct seg_header *header;

	if (index >= families->count)
		return false;
	header = family_watch_header(families->watches[index]);
	*out = (struct family_wish){.ended = !family_watch_live(families->watches[index])};
	snprintf(out->id, sizeof(out->id), "%s", family_watch_id(families->watches[index]));
	snapshot_string(out->listen, sizeof(out->listen), header->listen, sizeof(header->listen));
	snapshot_string(out->token_file, sizeof(out->token_file), header->token_file,
			sizeof(header->token_file));
	return true;
}

int families_set_problem(struct families *families, const char *family_id, const char *code,
			 const char *message)
{
	for (size_t i = 0; i < families->count; i++)
		if (strcmp(family_watch_id(families->watches[i]), family_id) == 0) {
			families->model_ns = 0;
			return family_watch_set_problem(families->watches[i], code, message);
		}
	return -ENOENT;
}

int families_prune(const struct families *families)
{
	return prune_directory(families->dirfd, families->owner);
}

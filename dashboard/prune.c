/* SPDX-License-Identifier: MIT */
/*
 * prune.c - see prune.h. Stateless: it costs a look at every file, so it is for the start of a
 * server and for when a family has ended.
 *
 * A name holds pid and start time and so is never used twice; a file that was dead when it was
 * looked at cannot be somebody else's when it is removed.
 */
#include "dashboard/prune.h"
#include "dashboard/proc_facts.h"
#include "dashboard/segment_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVIDENCE_MAX = 32 };

struct evidence {
	struct timespec changed;
	char name[64];
};

struct pruning {
	int dirfd;
	uid_t owner;
	struct evidence kept[EVIDENCE_MAX]; /* in no order */
	size_t kept_count;
};

static bool older(const struct evidence *a, const struct evidence *b)
{
	if (a->changed.tv_sec != b->changed.tv_sec)
		return a->changed.tv_sec < b->changed.tv_sec;
	return a->changed.tv_nsec < b->changed.tv_nsec;
}

/* Keeps a dead file among the newest ones; removes the one that is too many. */
static void keep(struct pruning *pruning, const char *name)
{
	struct evidence file = {0};
	struct stat st;
	size_t oldest = 0;

	if (fstatat(pruning->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	file.changed = st.st_ctim;
	snapshot_string(file.name, sizeof(file.name), name, strlen(name));
	if (pruning->kept_count < EVIDENCE_MAX) {
		pruning->kept[pruning->kept_count++] = file;
		return;
	}
	for (size_t i = 1; i < EVIDENCE_MAX; i++)
		if (older(&pruning->kept[i], &pruning->kept[oldest]))
			oldest = i;
	if (older(&pruning->kept[oldest], &file)) {
		struct evidence out = pruning->kept[oldest];

		pruning->kept[oldest] = file;
		file = out;
	}
	unlinkat(pruning->dirfd, file.name, 0);
}

static DIR *open_again(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (!stream && fd >= 0)
		close(fd);
	return stream;
}

static bool is_later_segment(const char *name, const struct seg_header *header)
{
	long pid = 0;
	unsigned long long start = 0;
	char rest[8] = "";

	return sscanf(name, "%ld-%llx%7s", &pid, &start, rest) == 3 && pid == header->pid &&
	       start > header->start_boot_ns && strcmp(rest, ".seg") == 0;
}

/* The same pid has a later segment: exec put another image in its place, and nothing crashed. */
static bool replaced_by_exec(const struct pruning *pruning, const struct seg_header *header)
{
	DIR *stream = open_again(pruning->dirfd);
	struct dirent *entry;
	bool found = false;

	while (stream && !found && (entry = readdir(stream)) != NULL)
		found = is_later_segment(entry->d_name, header);
	if (stream)
		closedir(stream);
	return found;
}

/* Where the kernel cannot tell: a process that may record here again. After an exec, `gone` is the
 * pid of another image. */
static bool process_left(struct segment *segment, const struct seg_header *header, int32_t gone)
{
	struct snapshot snapshot = {0};
	bool left =
		header->pid != gone && proc_exists(header->pid, header->uid, header->start_boot_ns);

	if (!left && segment_read(segment, &snapshot) == 0)
		for (size_t i = 0; i < snapshot.process_count && !left; i++)
			left = snapshot.processes[i].state == SEG_PROCESS_USED &&
			       snapshot.processes[i].pid != gone &&
			       proc_exists(snapshot.processes[i].pid, header->uid, UINT64_MAX);
	snapshot_free(&snapshot);
	return left;
}

static void prune_segment(struct pruning *pruning, const char *name, struct segment *segment)
{
	enum segment_life life;
	struct seg_header header;
	bool replaced;
	int in_use;

	if (segment_read_header(segment, &header) < 0 || segment_probe(segment, &life) < 0 ||
	    life == SEGMENT_LIVE || (header.flags & SEG_FLAG_KEEP))
		return;
	replaced = !(header.flags & SEG_FLAG_EXITED) && replaced_by_exec(pruning, &header);
	in_use = segment_in_use(segment);
	if (in_use < 0)
		in_use = process_left(segment, &header, replaced ? header.pid : 0);
	if (in_use)
		return;
	if (replaced || (header.flags & SEG_FLAG_EXITED))
		unlinkat(pruning->dirfd, name, 0);
	else
		keep(pruning, name);
}

/* A file that was never finished, or is damaged: only the pid of its name can tell. */
static void prune_unfinished(struct pruning *pruning, const char *name)
{
	if (!proc_exists(atoi(name), 0, UINT64_MAX))
		keep(pruning, name);
}

static void prune_file(struct pruning *pruning, const char *name)
{
	size_t length = strlen(name);
	struct segment *segment;
	int err;

	if (name[0] < '1' || name[0] > '9' || length >= sizeof(pruning->kept[0].name))
		return;
	if (strstr(name, ".failed.")) {
		if (!proc_exists(atoi(name), 0, UINT64_MAX))
			unlinkat(pruning->dirfd, name, 0);
		return;
	}
	if (length < 5 || strcmp(name + length - 4, ".seg") != 0)
		return;
	err = segment_open(pruning->dirfd, name, pruning->owner, &segment);
	if (err == -EAGAIN || err == -EBADMSG)
		prune_unfinished(pruning, name);
	if (err)
		return;
	prune_segment(pruning, name, segment);
	segment_close(segment);
}

int prune_directory(int dirfd, uid_t owner)
{
	struct pruning pruning = {.dirfd = dirfd, .owner = owner};
	DIR *stream = open_again(dirfd);
	struct dirent *entry;

	if (!stream)
		return -errno;
	while ((entry = readdir(stream)) != NULL)
		prune_file(&pruning, entry->d_name);
	closedir(stream);
	return 0;
}

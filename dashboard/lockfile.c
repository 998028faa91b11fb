/* SPDX-License-Identifier: MIT */
/*
 * lockfile.c - the server's lock; see lockfile.h.
 */
#include "dashboard/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define TRIES	    40
#define PAUSE_NS    5000000l
#define CONTENT_MAX 65536u

static int open_file(const char *dir, int flags)
{
	char path[4096];
	int fd;

	if (snprintf(path, sizeof path, "%s/%s", dir, LOCKFILE_NAME) >= (int)sizeof path)
		return -ENAMETOOLONG;
	fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? -errno : fd;
}

/* -EINTR: nobody holds it for good, but somebody looked at it just now. */
static int try_lock(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return -errno;
	if (flock(fd, LOCK_SH | LOCK_NB))
		return -EWOULDBLOCK;
	flock(fd, LOCK_UN);
	return -EINTR;
}

int lockfile_take(const char *dir)
{
	int fd = open_file(dir, O_RDWR | O_CREAT), err = -EINTR;

	if (fd < 0)
		return fd;
	for (int i = 0; i < TRIES && err == -EINTR; i++) {
		struct timespec pause = {0, PAUSE_NS};

		if (i > 0)
			nanosleep(&pause, NULL);
		err = try_lock(fd);
	}
	if (err == 0)
		return fd;
	close(fd);
	return err == -EINTR ? -EWOULDBLOCK : err;
}

void lockfile_release(int fd)
{
	if (ftruncate(fd, 0) == 0)
		flock(fd, LOCK_UN);
	close(fd); /* the last descriptor: lets go of the lock in any case */
}

int lockfile_write(int fd, const struct buf *content)
{
	ssize_t written = pwrite(fd, content->data, content->size, 0);

	if (written < 0)
		return -errno;
	if ((size_t)written != content->size)
		return -ENOSPC;
	return ftruncate(fd, written) ? -errno : 0;
}

static bool value_of(const char *line, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);

	if (strncmp(line, key, length) != 0 || line[length] != ' ')
		return false;
	snprintf(value, size, "%.*s", (int)strcspn(line + length + 1, "\n"), line + length + 1);
	return true;
}

static void parse_line(const char *line, struct lockfile_info *info)
{
	char pid[16];

	if (value_of(line, "pid", pid, sizeof pid))
		info->pid = atoi(pid);
	else if (!value_of(line, "listen", info->listen, sizeof info->listen))
		value_of(line, "token", info->token, sizeof info->token);
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : NULL;
}

static int read_content(int fd, struct lockfile_info *info)
{
	char *room = buf_reserve(&info->text, CONTENT_MAX);
	ssize_t size = room ? pread(fd, room, CONTENT_MAX, 0) : -1;

	if (size < 0)
		return room ? -errno : -ENOMEM;
	room[size] = '\0';
	info->text.size = (size_t)size;
	for (const char *line = info->text.data; line && *line; line = next_line(line))
		parse_line(line, info);
	return 0;
}

int lockfile_read(const char *dir, struct lockfile_info *out)
{
	struct lockfile_info info = {0};
	int fd = open_file(dir, O_RDONLY), err = 0;

	if (fd < 0) {
		if (fd != -ENOENT)
			return fd;
		*out = info;
		return 0;
	}
	if (flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK) {
		info.alive = true;
		err = read_content(fd, &info);
	}
	close(fd);
	if (err == 0)
		*out = info;
	else
		lockfile_destroy(&info);
	return err;
}

void lockfile_destroy(struct lockfile_info *info)
{
	buf_destroy(&info->text);
}

/* What a line "key id text" says about `id`. */
static const char *about(const struct lockfile_info *info, const char *key, const char *id,
			 char *text, size_t size)
{
	for (const char *line = info->text.data; line && *line; line = next_line(line)) {
		char value[1024], *blank;

		if (!value_of(line, key, value, sizeof value))
			continue;
		blank = strchr(value, ' ');
		if (!blank)
			continue;
		*blank = '\0';
		if (strcmp(value, id) == 0) {
			snprintf(text, size, "%s", blank + 1);
			return text;
		}
	}
	return NULL;
}

const char *lockfile_family(const struct lockfile_info *info, const char *id, char address[128])
{
	return about(info, "family", id, address, 128);
}

const char *lockfile_problem(const struct lockfile_info *info, const char *id, char message[512])
{
	return about(info, "problem", id, message, 512);
}

/* SPDX-License-Identifier: MIT */
/*
 * token.c - the bearer token's file; see token.h.
 */
#include "dashboard/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANDOM_BYTES 32u

static int check_file(int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || (status.st_mode & (S_IWGRP | S_IRWXO)))
		return -EPERM;
	return status.st_uid == geteuid() || status.st_uid == 0 ? 0 : -EPERM;
}

static int strip(char *text, size_t size, char token[TOKEN_MAX + 1])
{
	size_t start = 0;

	while (start < size && strchr(" \t\r\n", text[start]))
		start++;
	while (size > start && strchr(" \t\r\n", text[size - 1]))
		size--;
	if (size - start < TOKEN_MIN || size - start > TOKEN_MAX)
		return -EINVAL;
	for (size_t i = start; i < size; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return -EINVAL;
	memcpy(token, text + start, size - start);
	token[size - start] = '\0';
	return 0;
}

int token_read(const char *path, char token[TOKEN_MAX + 1])
{
	char text[2 * TOKEN_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t size = 0;
	int err;

	if (fd < 0)
		return -errno;
	err = check_file(fd);
	if (err == 0) {
		size = read(fd, text, sizeof text);
		err = size < 0 ? -errno : 0;
	}
	close(fd);
	return err ? err : strip(text, (size_t)size, token);
}

static int fill_file(int fd)
{
	unsigned char bytes[RANDOM_BYTES];
	char text[2 * RANDOM_BYTES + 2];
	size_t used = 0;

	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return -EIO;
	for (size_t i = 0; i < sizeof bytes; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%02x", bytes[i]);
	text[used++] = '\n';
	return write(fd, text, used) == (ssize_t)used ? 0 : -EIO;
}

/* Written under a name of its own and linked into place: nobody ever reads half a token, and of
 * two who make it at once both take the same. */
static int create(const char *path)
{
	char temporary[4096];
	int fd, err;

	if (snprintf(temporary, sizeof temporary, "%s.%d", path, getpid()) >= (int)sizeof temporary)
		return -ENAMETOOLONG;
	unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	err = fill_file(fd);
	close(fd);
	if (err == 0 && link(temporary, path) && errno != EEXIST)
		err = -errno;
	unlink(temporary);
	return err;
}

int token_make(const char *path, char token[TOKEN_MAX + 1])
{
	int err = token_read(path, token);

	if (err != -ENOENT)
		return err;
	err = create(path);
	return err ? err : token_read(path, token);
}

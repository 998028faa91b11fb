/* SPDX-License-Identifier: MIT */
/*
 * log.c - see log.h. Each line is one write(2), so that the lines of several servers that append to
 * one file do not mix.
 */
#include "dashboard/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1024
#define FILE_MAX_BYTES (1 << 20) /* a log that nobody rotates must not fill a disk */

static int log_fd = -1;
static bool log_stderr;

int log_open(const char *path, bool to_stderr)
{
	log_stderr = to_stderr;
	if (!path)
		return 0;
	log_fd =
		open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	return log_fd < 0 ? -errno : 0;
}

static bool has_room(void)
{
	struct stat status;

	return fstat(log_fd, &status) == 0 && status.st_size < FILE_MAX_BYTES;
}

static void put(int fd, const char *text, int size)
{
	ssize_t written = write(fd, text, (size_t)size);

	(void)written; /* there is nobody left to tell */
}

void log_line(const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	time_t now = time(NULL);
	struct tm parts;
	va_list arguments;
	int stamp, size;

	if (log_fd < 0 && !log_stderr)
		return;
	gmtime_r(&now, &parts);
	stamp = (int)strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%SZ ", &parts);
	stamp += snprintf(line + stamp, sizeof line - (size_t)stamp,
			  "heaptap-server[%d]: ", getpid());
	va_start(arguments, format);
	size = vsnprintf(line + stamp, sizeof line - (size_t)stamp - 1, format, arguments);
	va_end(arguments);
	size = size < 0 ? stamp : stamp + size;
	if (size > LINE_MAX_BYTES - 2)
		size = LINE_MAX_BYTES - 2;
	line[size++] = '\n';
	if (log_fd >= 0 && has_room())
		put(log_fd, line, size);
	if (log_stderr)
		put(STDERR_FILENO, line, size);
}

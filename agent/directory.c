/* SPDX-License-Identifier: MIT */
/*
 * directory.c - HEAPTAP_DIR.
 *
 * The server tidies up as families end. The sweep here is for those who run without one: each
 * start-up reads one buffer of the directory, and only where that did not hold all of it, looks at
 * what is in there.
 */
#include "agent/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SWEEP_BUFFER 4096 /* some 60 names */

static int use(const char *path)
{
	struct stat status;
	bool made = !mkdir(path, 0700);
	int fd, err = 0;

	if (!made && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (made && fchmod(fd, 0700)) /* whatever the umask is */
		err = -errno;
	else if (fstat(fd, &status))
		err = -errno;
	else if (status.st_uid != geteuid() || (status.st_mode & 022))
		err = -EPERM;
	else if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS))
		err = -errno;
	close(fd);
	return err;
}

int directory_prepare(struct config *config, char path[DIRECTORY_PATH])
{
	int err;

	if (config->dir[0]) {
		err = use(config->dir);
		memcpy(path, config->dir, DIRECTORY_PATH);
		if (!err)
			return 0;
		config_add_problem(config, SEG_PROBLEM_DIR, -err, config->dir, NULL);
	}
	snprintf(path, DIRECTORY_PATH, "/dev/shm/heaptap-%u", geteuid());
	return use(path);
}

static bool is_stale_segment(int dir, const char *name)
{
	struct seg_header header;
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t size;

	if (fd < 0)
		return false;
	size = pread(fd, &header, sizeof(header), 0);
	close(fd);
	if (size != sizeof(header) || header.magic != SEG_MAGIC)
		return true;
	return !(header.flags & SEG_FLAG_KEEP);
}

/* "<pid>-<start>.seg" or "<pid>-<start>.failed.<ERRNO>" */
static void sweep_entry(int dir, const char *name)
{
	const char *dot = strchr(name, '.');
	int pid = 0;

	for (const char *p = name; *p >= '0' && *p <= '9' && pid < 100000000; p++)
		pid = pid * 10 + (*p - '0');
	if (!pid || !dot || !kill(pid, 0) || errno != ESRCH)
		return;
	if (!strncmp(dot, ".failed.", 8) || (!strcmp(dot, ".seg") && is_stale_segment(dir, name)))
		unlinkat(dir, name, 0);
}

static void sweep_buffer(int dir, const char *buffer, long size)
{
	for (long at = 0; at < size;) {
		const struct dirent64 *entry = (const struct dirent64 *)(buffer + at);

		sweep_entry(dir, entry->d_name);
		at += entry->d_reclen;
	}
}

void directory_sweep(const char *path)
{
	_Alignas(struct dirent64) char first[SWEEP_BUFFER], more[SWEEP_BUFFER];
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	long first_size, size;

	if (fd < 0)
		return;
	/* opendir() would allocate */
	first_size = syscall(SYS_getdents64, fd, first, sizeof(first));
	size = first_size > 0 ? syscall(SYS_getdents64, fd, more, sizeof(more)) : 0;
	if (size > 0)
		sweep_buffer(fd, first, first_size);
	while (size > 0) {
		sweep_buffer(fd, more, size);
		size = syscall(SYS_getdents64, fd, more, sizeof(more));
	}
	close(fd);
}

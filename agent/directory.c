/* SPDX-License-Identifier: MIT */
/*
 * directory.c - HEAPTAP_DIR.
 *
 * The server tidies up as families end. The sweep here is for those who run without one: each
 * start-up reads one buffer of the directory, and only where that did not hold all of it, looks at
 * what is in there.
 */
#include "agent/directory.h"
#include "agent/system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWEEP_BUFFER 4096 /* some 60 names */

static int use(const char *path)
{
	struct stat status;
	bool made = !system_mkdir(path, 0700);
	int fd, err = 0;

	if (!made && errno != EEXIST)
		return -errno;
	fd = system_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (made && system_chmod(fd, 0700)) /* whatever the umask is */
		err = -errno;
	else if (system_stat(fd, &status))
		err = -errno;
	else if (status.st_uid != system_geteuid() || (status.st_mode & 022))
		err = -EPERM;
	else if (system_access(fd, W_OK | X_OK))
		err = -errno;
	system_close(fd);
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
	snprintf(path, DIRECTORY_PATH, "/dev/shm/heaptap-%u", system_geteuid());
	return use(path);
}

/*
 * Nobody has the segment mapped any more, and it was not asked to stay. A read lease is granted
 * only where no one has the file open for writing, and a process that records has, by its mapping.
 * (SIGURG in place of SIGIO, which would kill, should somebody want to write at just that moment.)
 */
static bool is_stale_segment(int dir, const char *name)
{
	struct seg_header header = {0};
	int fd = system_open_at(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool stale;

	if (fd < 0)
		return false;
	system_fcntl(fd, F_SETSIG, SIGURG);
	stale = !system_fcntl(fd, F_SETLEASE, F_RDLCK);
	if (stale)
		stale = system_pread(fd, &header, sizeof(header), 0) >= 0 &&
			!(header.flags & SEG_FLAG_KEEP);
	system_close(fd); /* gives back the lease */
	return stale;
}

static bool process_exists(int pid)
{
	return !syscall(SYS_kill, pid, 0) || errno != ESRCH;
}

/* "<pid>-<start>.seg" or "<pid>-<start>.failed.<ERRNO>" */
static void sweep_entry(int dir, const char *name)
{
	const char *dot = strchr(name, '.');
	int pid = 0;

	for (const char *p = name; *p >= '0' && *p <= '9' && pid < 100000000; p++)
		pid = pid * 10 + (*p - '0');
	if (!pid || !dot)
		return;
	if ((!strncmp(dot, ".failed.", 8) && !process_exists(pid)) ||
	    (!strcmp(dot, ".seg") && is_stale_segment(dir, name)))
		system_unlink_at(dir, name);
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
	int fd = system_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
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
	system_close(fd);
}

/* SPDX-License-Identifier: MIT */
/*
 * system.h - system calls of the start-up, without the names that libc has for them.
 *
 * A host may have a function called clone, kill or open of its own, and the loader gives ours that
 * one; another preload may wrap them and allocate. Results and errno are as from libc.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline int system_open(const char *path, int flags, unsigned mode)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static inline int system_open_at(int dir, const char *name, int flags)
{
	return (int)syscall(SYS_openat, dir, name, flags, 0);
}

static inline int system_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

static inline ssize_t system_read(int fd, void *to, size_t size)
{
	return syscall(SYS_read, fd, to, size);
}

static inline ssize_t system_pread(int fd, void *to, size_t size, off_t offset)
{
	return syscall(SYS_pread64, fd, to, size, offset);
}

static inline ssize_t system_write(int fd, const void *from, size_t size)
{
	return syscall(SYS_write, fd, from, size);
}

static inline int system_unlink_at(int dir, const char *name)
{
	return (int)syscall(SYS_unlinkat, dir, name, 0);
}

static inline int system_mkdir(const char *path, unsigned mode)
{
	return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

static inline ssize_t system_read_link(const char *path, char *to, size_t room)
{
	return syscall(SYS_readlinkat, AT_FDCWD, path, to, room);
}

static inline int system_madvise(void *start, size_t size, int advice)
{
	return (int)syscall(SYS_madvise, start, size, advice);
}

static inline int system_flock(int fd, int operation)
{
	return (int)syscall(SYS_flock, fd, operation);
}

static inline int system_fcntl(int fd, int command, long argument)
{
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

static inline pid_t system_getpid(void)
{
	return (pid_t)syscall(SYS_getpid);
}

static inline uid_t system_geteuid(void)
{
	return (uid_t)syscall(SYS_geteuid);
}

/* struct stat is the kernel's on the 64-bit machines that heaptap knows */
static inline int system_stat(int fd, struct stat *status)
{
	return (int)syscall(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH);
}

static inline int system_chmod(int fd, unsigned mode)
{
	return (int)syscall(SYS_fchmod, fd, mode);
}

static inline int system_truncate(int fd, off_t size)
{
	return (int)syscall(SYS_ftruncate, fd, size);
}

static inline int system_allocate(int fd, off_t size)
{
	return (int)syscall(SYS_fallocate, fd, 0, (off_t)0, size);
}

static inline void *system_map(size_t size, int flags, int fd)
{
	return (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, flags, fd, (off_t)0);
}

static inline int system_unmap(void *start, size_t size)
{
	return (int)syscall(SYS_munmap, start, size);
}

/* For the effective user. Kernels before 5.8 cannot tell, and the answer is yes. */
static inline int system_access(int dir, int mode)
{
	int result = (int)syscall(SYS_faccessat2, dir, ".", mode, AT_EACCESS);

	return result && errno == ENOSYS ? 0 : result;
}

static inline int system_limit(int resource, struct rlimit *limit)
{
	return (int)syscall(SYS_prlimit64, 0, resource, NULL, limit);
}

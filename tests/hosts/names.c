/* SPDX-License-Identifier: MIT */
/*
 * names.c - a host with functions of its own under names that libc has too. The loader gives them
 * to every library that asks for such a name, so a preload must not ask.
 */
#include <stdlib.h>

#define NAMES(X)                                                                                   \
	X(access)                                                                                  \
	X(clone)                                                                                   \
	X(close)                                                                                   \
	X(dprintf)                                                                                 \
	X(dup2)                                                                                    \
	X(faccessat)                                                                               \
	X(fallocate)                                                                               \
	X(fchmod)                                                                                  \
	X(fcntl)                                                                                   \
	X(flock)                                                                                   \
	X(fstat)                                                                                   \
	X(ftruncate)                                                                               \
	X(geteuid)                                                                                 \
	X(getpid)                                                                                  \
	X(getrlimit)                                                                               \
	X(kill)                                                                                    \
	X(madvise)                                                                                 \
	X(mkdir)                                                                                   \
	X(mmap)                                                                                    \
	X(munmap)                                                                                  \
	X(open)                                                                                    \
	X(openat)                                                                                  \
	X(pread)                                                                                   \
	X(read)                                                                                    \
	X(readlink)                                                                                \
	X(setsid)                                                                                  \
	X(signal)                                                                                  \
	X(unlink)                                                                                  \
	X(unlinkat)                                                                                \
	X(waitpid)

#define DEFINE(name)                                                                               \
	void name(void);                                                                           \
	void name(void)                                                                            \
	{                                                                                          \
		abort();                                                                           \
	}
NAMES(DEFINE)

int puts(const char *line);

int main(void)
{
	free(malloc(100));
	puts("ok");
	return 0;
}

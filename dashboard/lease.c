/* SPDX-License-Identifier: MIT */
/* lease.c - see lease.h. The lease is given back at once. */
#include "dashboard/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

int lease_in_use(int fd)
{
	/* Should somebody want to write at just that moment: SIGIO, the default, would kill. */
	if (fcntl(fd, F_SETSIG, SIGURG) < 0)
		return -errno;
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return errno == EAGAIN ? 1 : -errno;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return 0;
}

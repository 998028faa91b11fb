/* SPDX-License-Identifier: MIT */
/*
 * lease.h - whether any process still has a file open, or mapped, for writing.
 *
 * The kernel grants a read lease (fcntl(2), F_SETLEASE) only where nobody does. A process that
 * records has its segment mapped until its exit or exec, whether it has allocated yet or not, and
 * in any pid namespace: so this tells what neither rows nor pids can.
 */
#pragma once

/* 1: somebody does; 0: nobody; -errno: cannot be known here (the file system has no leases, or the
 * file is another user's). `fd` is open for reading only. */
int lease_in_use(int fd);

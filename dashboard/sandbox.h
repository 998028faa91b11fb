/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - what the server gives up once it listens.
 */
#pragma once

/* Before anything else: nice, more descriptors, a cap on memory. Failures are not fatal. */
void sandbox_limit(void);

/* No new privileges, and system calls that a server has no use for fail with EPERM (execve,
 * ptrace, mount, ...). 0 or -errno; the server runs on without where the kernel refuses. */
int sandbox_enter(void);

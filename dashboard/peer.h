/* SPDX-License-Identifier: MIT */
/*
 * peer.h - who sits at the other end of a connection on this machine.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct peer {
	bool local; /* Unix socket, or TCP with both ends on loopback */
	bool known; /* uid is that of the process that made the socket at the other end */
	uid_t uid;
};

/* `diag` is from peer_open() or negative. Costs one round trip to the kernel, some 10 us. */
struct peer peer_of(int diag, int connection);

/* A socket for peer_of(), kept open because a sandbox may not allow to make it later; or -errno:
 * then the uid of TCP peers stays unknown. */
int peer_open(void);

/* SPDX-License-Identifier: MIT */
/*
 * lockfile.h - HEAPTAP_DIR/server.lock: at most one server per directory, and where it listens.
 *
 * The server holds flock(LOCK_EX). An agent tries LOCK_SH for an instant to see whether there is
 * one; that an agent or another server is just looking must not be taken for a server that lives,
 * hence the retries. The content is lines "key value", valid only while the lock is held.
 */
#pragma once

#include "dashboard/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define LOCKFILE_NAME "server.lock"

/* Takes the lock for good: the descriptor, or -EWOULDBLOCK where a server lives, or -errno. */
int lockfile_take(const char *dir);

/* Empties the file and lets go. */
void lockfile_release(int fd);

/* Replaces the content. 0 or -errno. */
int lockfile_write(int fd, const struct buf *content);

struct lockfile_info {
	bool alive; /* a server holds the lock */
	int32_t pid;
	char listen[128]; /* "": the default address is not open */
	char token[4096]; /* path */
	struct buf text;  /* whole content, for lockfile_family() */
};

/* What the living server wrote. 0 (also without one) or -errno. */
int lockfile_read(const char *dir, struct lockfile_info *out);
void lockfile_destroy(struct lockfile_info *info);

/* The address of its own that a family has, or NULL; `address` holds it. */
const char *lockfile_family(const struct lockfile_info *info, const char *id, char address[128]);

/* Why a family did not get the address that it asked for, or NULL; `message` holds it. */
const char *lockfile_problem(const struct lockfile_info *info, const char *id, char message[512]);

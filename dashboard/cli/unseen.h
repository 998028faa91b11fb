/* SPDX-License-Identifier: MIT */
/*
 * unseen.h - processes that have the agent in them and yet are in no family, and why.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unseen {
	int32_t pid;
	char name[32]; /* comm; any bytes */
	char message[320];
};

struct unseen_list {
	struct unseen *items; /* malloc'd */
	size_t count;
};

/* Whether a pid is in a family. */
typedef bool unseen_is_known(const void *context, int32_t pid);

/* The marks of failed starts in `dir` whose process lives, and processes of ours with libheaptap.so
 * mapped that are not known. 0 or -errno; the caller frees the items in both cases. */
int unseen_find(const char *dir, unseen_is_known *is_known, const void *context,
		struct unseen_list *out);

/* SPDX-License-Identifier: MIT */
/*
 * prune.h - removes segment files that nobody needs any more. The only part of the dashboard that
 * changes HEAPTAP_DIR, besides the server's own files.
 */
#pragma once

#include <sys/types.h>

/*
 * Looks at all files of the directory. Of segments whose processes are gone, those that ended by
 * exit() or were replaced by exec are removed, the newest 32 others are kept as evidence of a
 * crash, and those with HEAPTAP_KEEP=1 are left alone. Marks of failed starts go with their
 * process. 0 or -errno.
 */
int prune_directory(int dirfd, uid_t owner);

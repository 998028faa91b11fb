/* SPDX-License-Identifier: MIT */
/*
 * token.h - the bearer token: 64 hexadecimal digits in a file of mode 0600, or what the user wrote
 * into a file of his own.
 */
#pragma once

#include <stddef.h>

#define TOKEN_MIN 16u
#define TOKEN_MAX 255u

/*
 * Reads the token without the blanks around it. 0; -ENOENT; -EPERM where others than the owner and
 * his group may read the file, or others than the owner write it, or it is neither ours nor root's;
 * -EINVAL where it holds no TOKEN_MIN to TOKEN_MAX printable characters; another -errno.
 */
int token_read(const char *path, char token[TOKEN_MAX + 1]);

/* As token_read(), but makes the file with a new token where there is none. */
int token_make(const char *path, char token[TOKEN_MAX + 1]);

/* SPDX-License-Identifier: MIT */
/*
 * program.h - whether a library can be preloaded into a command, found out from its file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum program_kind {
	PROGRAM_GOOD,
	PROGRAM_STATIC,	   /* no dynamic loader: a preload has no effect */
	PROGRAM_SETUID,	   /* the loader drops the preload */
	PROGRAM_FOREIGN,   /* another architecture or C library: the loader would complain */
	PROGRAM_SANITIZED, /* its allocator is the sanitizer's, which wants to come first */
};

/* Where execvp would find `command`. 0; -ENOENT; -EACCES where it is there but cannot be executed.
 */
int program_find(const char *command, char *path, size_t size);

/* Follows "#!". What cannot be read counts as good: the attempt will tell. */
enum program_kind program_kind(const char *path);

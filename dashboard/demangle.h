/* SPDX-License-Identifier: MIT */
/*
 * demangle.h - names of C++ and Rust functions as their authors wrote them.
 */
#pragma once

/* The demangled name, or a copy of `name` where it is not a mangled one; cut with "..." where too
 * long. NULL: no memory. To be freed. `name` may be hostile. */
char *demangle(const char *name);

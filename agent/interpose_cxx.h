/* SPDX-License-Identifier: MIT */
/*
 * interpose_cxx.h - operator new and delete, so that the call site is the C++ caller.
 */
#pragma once

/* Finds out whose operators come next. Start-up, one thread, after next_resolve(). Until then the
 * operators take their memory from the next malloc. */
void interpose_cxx_resolve(void);

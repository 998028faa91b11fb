/* SPDX-License-Identifier: MIT */
/*
 * platform/aarch64.h - what the agent needs to know of the processor. Not run yet on a real one.
 */
#pragma once

#include <stdint.h>

/* Adds to a counter that only this thread writes. There is no single instruction for it on all
 * processors, so a signal handler that allocates in between could lose its count: the atomic form
 * prevents that, without an ordering. */
static inline __attribute__((always_inline)) void platform_add(uint64_t *counter, uint64_t value)
{
	__atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
}

/* The address that the calling function returns to, without its authentication code. */
#define PLATFORM_CALLER()                                                                          \
	((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)) &                   \
	 0x0000ffffffffffffull)

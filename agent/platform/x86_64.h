/* SPDX-License-Identifier: MIT */
/*
 * platform/x86_64.h - what the agent needs to know of the processor.
 */
#pragma once

#include <stdint.h>

/* Adds to a counter that only this thread writes, in one instruction, so that a signal handler on
 * the same thread finds it before or after. The compiler alone would feel free to add two counters
 * at once through a vector register. */
static inline __attribute__((always_inline)) void platform_add(uint64_t *counter, uint64_t value)
{
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(value));
}

/* The address that the calling function returns to. */
#define PLATFORM_CALLER() ((uintptr_t)__builtin_return_address(0))

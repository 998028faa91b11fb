/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the time as one number. Any thread.
 */
#pragma once

#include <stdint.h>
#include <time.h>

/* ns of CLOCK_REALTIME (since 1970), CLOCK_MONOTONIC, ... */
uint64_t clock_ns(clockid_t clock);

/* ms of CLOCK_MONOTONIC, for time limits. */
int64_t clock_ms(void);

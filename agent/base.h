/* SPDX-License-Identifier: MIT */
/*
 * base.h - compiler attributes, the TLS model and assertions of the agent. The lowest layer.
 */
#pragma once

#include <stdint.h>

#define HT_LIKELY(x)   __builtin_expect(!!(x), 1)
#define HT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define HT_COLD	       __attribute__((cold, noinline))
#define HT_EXPORT      __attribute__((visibility("default")))
/* For variables: -fvisibility=hidden reaches definitions, not the accesses in other files. */
#define HT_HIDDEN __attribute__((visibility("hidden")))
#define HT_INLINE static inline __attribute__((always_inline))

/*
 * initial-exec: one load relative to the thread pointer. The dynamic model calls __tls_get_addr,
 * which may allocate, which would come back to us. The static TLS block is taken from the stack
 * of every thread, so only a few bytes may live there.
 */
#define HT_TLS __thread __attribute__((tls_model("initial-exec")))

/* Invariants: ht_assert(cond && "why"). On in sanitizer builds only: a host is never aborted. */
#ifdef HEAPTAP_ASSERT
#define ht_assert(x) ((x) ? (void)0 : __builtin_trap())
#else
#define ht_assert(x) ((void)sizeof(x))
#endif

/* SPDX-License-Identifier: MIT */
/*
 * base.h - compiler attributes and the TLS model of the agent. The lowest layer.
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

/* What orders threads behind the back of ThreadSanitizer: here, the kernel that marks a row when
 * its thread has ended. */
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define HT_KERNEL_RELEASED(address) __tsan_release(address)
#define HT_KERNEL_ACQUIRED(address) __tsan_acquire(address)
#define HT_MUTEX_GONE(mutex)	    __tsan_mutex_destroy(mutex, 0)
#else
#define HT_KERNEL_RELEASED(address) ((void)(address))
#define HT_KERNEL_ACQUIRED(address) ((void)(address))
#define HT_MUTEX_GONE(mutex)	    ((void)(mutex))
#endif

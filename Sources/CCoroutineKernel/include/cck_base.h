// SPDX-License-Identifier: Apache-2.0
//
// Words that every header of the kernel uses.
#ifndef CCK_BASE_H
#define CCK_BASE_H

#include <stddef.h>
#include <stdint.h>

#if !defined(__clang__)
#define _Nonnull
#define _Nullable
#endif

#define CCK_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define CCK_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define CCK_INLINE static inline __attribute__((always_inline))

/// Has the processor fetch so many lines of its cache, from an address on; any address may be given.
CCK_INLINE void cck_prefetch(const void *_Nullable start, int lines) {
  for (int line = 0; line < lines; line++) __builtin_prefetch((const char *)start + 64 * line);
}

#endif

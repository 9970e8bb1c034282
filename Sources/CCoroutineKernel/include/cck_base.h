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

#endif

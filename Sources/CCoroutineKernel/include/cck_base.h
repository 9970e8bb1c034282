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

/// Has the processor fetch the line that holds an address in order to write it: in one go, where a load first and a
/// store then would ask the processor that has it twice.
CCK_INLINE void cck_prefetch_to_write(const void *_Nonnull address) {
#if defined(__x86_64__)
  // Without being told of a newer processor, compilers make one that fetches it to read of the builtin. Processors
  // that do not know this instruction do nothing.
  __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
  __builtin_prefetch(address, 1);
#endif
}

/// The same address, of which the compiler does not know where it comes from: what is at an offset from it is addressed so,
/// and not by an address that is computed early and kept in memory.
CCK_INLINE void *_Nonnull cck_opaque(void *_Nonnull address) {
  __asm__ volatile("" : "+r"(address));
  return address;
}

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Descriptors' numbers: where what is known of them is kept, and what they are, in words.
#ifndef CCK_DESCRIPTOR_H
#define CCK_DESCRIPTOR_H

#include <stddef.h>

#include "cck_base.h"

/// Slots of the directory of all numbers, each for the address of the entries of a row of them; zero at first.
enum { CCK_DESCRIPTOR_CHUNKS = 4096 };
extern uintptr_t cck_descriptor_chunks[CCK_DESCRIPTOR_CHUNKS];

/// The directory. In C, because a variable of Swift's that is made at its first use is looked after at every one.
CCK_INLINE uintptr_t *_Nonnull cck_descriptor_directory(void) { return cck_descriptor_chunks; }

/// Writes what a descriptor is: `TCP 127.0.0.1:40312 to 127.0.0.1:5432`, `pipe`, or a file's path. Returns the number
/// of bytes, at most `size - 1`, without the zero behind them.
size_t cck_descriptor_describe(int descriptor, char *_Nonnull text, size_t size);

#endif

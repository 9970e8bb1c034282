// SPDX-License-Identifier: Apache-2.0
//
// What a descriptor is, in words.
#ifndef CCK_DESCRIPTOR_H
#define CCK_DESCRIPTOR_H

#include <stddef.h>

#include "cck_base.h"

/// Writes what a descriptor is: `TCP 127.0.0.1:40312 to 127.0.0.1:5432`, `pipe`, or a file's path. Returns the number
/// of bytes, at most `size - 1`, without the zero behind them.
size_t cck_descriptor_describe(int descriptor, char *_Nonnull text, size_t size);

#endif

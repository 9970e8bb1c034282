// SPDX-License-Identifier: Apache-2.0
//
// Whether a signal has interrupted a switch between two instructions.
#ifndef CCK_MIDWAY_H
#define CCK_MIDWAY_H

#include "cck_context.h"

/// The context that the interrupted code is about to go on with, if the signal came after the first register of that
/// had been loaded and before the jump into it; else NULL.
///
/// In between the program counter is in one function and the registers are another's, or, for a context that has not
/// begun, nobody's: call frame information would be applied to memory that is no frame, and the unwinders of libgcc
/// and LLVM read what they find there as addresses of code, and the code at those.
const cck_context_t *_Nullable cck_midway_to(const void *_Nonnull machine_context);

#endif

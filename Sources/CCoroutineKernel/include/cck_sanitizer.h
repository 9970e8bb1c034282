// SPDX-License-Identifier: Apache-2.0
//
// What ThreadSanitizer and AddressSanitizer must be told about a switch. Their runtimes are found by
// weak symbols when the process starts, so `swift test --sanitize=thread` needs no flag of ours, and
// the functions here are never instrumented themselves: a shadow stack that is switched in the middle
// of an instrumented function underflows.
#ifndef CCK_SANITIZER_H
#define CCK_SANITIZER_H

#include "cck_context.h"

/// Registers a new context; returns the entry function to start it with.
cck_entry_t _Nonnull cck_sanitizer_new_context(
    cck_context_t *_Nonnull context, cck_entry_t _Nonnull entry);

// cck_sanitizer_leave, which announces that the running context switches away and never comes back,
// is declared in cck_context.h.

/// Frees what the sanitizers hold for a context that has been left.
void cck_sanitizer_retire(cck_context_t *_Nonnull context);

/// True when ThreadSanitizer's runtime is in the process.
int cck_sanitizer_is_tsan(void);

#endif

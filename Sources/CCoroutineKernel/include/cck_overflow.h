// SPDX-License-Identifier: Apache-2.0
//
// Stack overflow: a report that names the coroutine and the fix, on every thread that runs any.
#ifndef CCK_OVERFLOW_H
#define CCK_OVERFLOW_H

#include "cck_thread.h"

void cck_overflow_install_slowly(cck_thread_t *_Nonnull thread);

/// Gives the calling thread a signal stack, and the process the handler, unless they have them.
CCK_INLINE void cck_overflow_install(cck_thread_t *_Nonnull thread) {
  if (CCK_UNLIKELY(thread->alternate_stack == NULL)) cck_overflow_install_slowly(thread);
}

/// Writes a text to standard error, as it stands.
void cck_print_error(const char *_Nonnull text);

/// Takes the signal stack away again, at the thread's end.
void cck_overflow_uninstall(cck_thread_t *_Nonnull thread);

#endif

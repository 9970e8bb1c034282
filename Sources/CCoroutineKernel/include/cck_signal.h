// SPDX-License-Identifier: Apache-2.0
//
// A signal on which a thread does something that no handler may do.
#ifndef CCK_SIGNAL_H
#define CCK_SIGNAL_H

#include "cck_base.h"

/// Has the next signal of this number wake `cck_signal_wait`, and the one after that do what it does by itself. To
/// be called once. 0, or an error number: EBUSY if the process handles or ignores the signal; a handler for
/// crashes does not count.
int cck_signal_expect(int number);

/// Blocks until that signal comes.
void cck_signal_wait(void);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Who waits for which descriptor: so that closing one that nobody waits for costs a look at a counter.
#ifndef CBC_WAITING_H
#define CBC_WAITING_H

#include "CCoroutinesBlockingCalls.h"

/// One more, or one fewer, waits for a descriptor.
void cbc_note_wait(int descriptor, int change);

/// The hooks `closing`, `now` and `is_cancelled`.
void cbc_wake_waiters(int descriptor);
int64_t cbc_scheduler_now(void);
int cbc_is_cancelled(void);

/// Before and after a fork, and in the child, where all waits are forgotten.
void cbc_lock_all(void);
void cbc_unlock_all(void);
void cbc_unlock_all_in_child(void);
void cbc_forget_waits(void);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// A signal on which a thread does something that no handler may do.
#ifndef CCK_SIGNAL_H
#define CCK_SIGNAL_H

#include "cck_base.h"
#include "cck_frames.h"

/// Has the next signal of this number wake `cck_signal_wait`, and the one after that do what it does by itself. To
/// be called once.
///
/// `serve` runs on a thread of its own and calls `cck_signal_wait` first. While the process has one thread only, that
/// thread is not started before the signal comes: with a second one, each `malloc` and `free` of glibc's takes a
/// lock.
///
/// 0, or an error number: EBUSY if the process handles or ignores the signal (a handler for crashes does not count),
/// EAGAIN if the system has no threads left.
int cck_signal_expect(int number, void (*_Nonnull serve)(void));

/// Starts that thread now, if the signal is expected and the process has more threads than one.
void cck_signal_keep_up(void);

/// Blocks until that signal comes.
void cck_signal_wait(void);

/// After that: what the signal interrupted, if that was a coroutine which blocked its thread in a system call. The
/// call may have returned early for it, so who looks later does not find it. Null if it was anything else.
const cck_sight_t *_Nullable cck_signal_interrupted(void);

#endif

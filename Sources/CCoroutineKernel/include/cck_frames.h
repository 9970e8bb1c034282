// SPDX-License-Identifier: Apache-2.0
//
// Where code is: the return addresses on a stack, by its chain of frame pointers, which Swift keeps in all
// its functions. A C function that keeps none ends the chain, or hides its caller; nothing worse, since no
// address outside the stack is read.
#ifndef CCK_FRAMES_H
#define CCK_FRAMES_H

#include "cck_base.h"
#include "cck_context.h"

#define CCK_FRAMES_LIMIT 64

/// What a thread was doing.
typedef struct cck_sight {
  uint64_t identifier;                ///< Of the coroutine that it runs, or 0.
  char name[64];                      ///< Its name, cut short; empty if it has none.
  const void *_Nullable home;         ///< The scheduler that it works for, or null.
  int is_cancelled;                   ///< The coroutine has been cancelled, or a scope that it is in.
  uint32_t count;                     ///< Addresses.
  uintptr_t frames[CCK_FRAMES_LIMIT]; ///< The innermost first.
} cck_sight_t;

/// The addresses at which a suspended flow of control goes on, the innermost first.
///
/// The caller sees to it that it stays suspended. `high` is the end of its stack.
uint32_t cck_frames_of_context(
    const cck_context_t *_Nonnull context, const void *_Nonnull low, const void *_Nonnull high,
    uintptr_t *_Nonnull frames, uint32_t capacity);

/// The addresses at which the calling thread is, the innermost first.
uint32_t cck_frames_here(uintptr_t *_Nonnull frames, uint32_t capacity);

/// The system's number of the calling thread, by which `cck_frames_of_thread` finds it; 0 where that cannot.
int cck_thread_number(void);

/// Lets the calling thread be looked at: Dispatch's block all signals.
void cck_thread_can_be_seen(void);

/// Looks at another thread of this process: interrupts it with a signal (SIGURG, which is ignored unless
/// somebody handles it) whose handler notes where it is. 0, or an error number: ESRCH if there is no such
/// thread, ETIMEDOUT if it has not answered in time, EBUSY if somebody else handles the signal, ENOTSUP.
///
/// A system call that the thread is blocked in goes on afterwards; of those that never do (sleeps, polls), the
/// C library returns EINTR. So this is for threads that are suspected of something.
int cck_frames_of_thread(int number, int64_t timeout, cck_sight_t *_Nonnull sight);

/// The same of the calling thread, in a handler of a signal, by the machine context of that. Nothing but the number
/// is set, to 0, where that cannot be done.
void cck_frames_of_interrupted(const void *_Nonnull machine_context, cck_sight_t *_Nonnull sight);

/// To be called before the first of these, and outside of handlers: it may allocate.
void cck_frames_prepare(void);

/// 1 if another thread of this process sleeps in a system call, 0 if it runs or wants to, -1 if that is not known.
int cck_thread_is_blocked(int number);

/// Number of threads of this process, or -1 where the system does not tell.
int cck_thread_count(void);

#endif

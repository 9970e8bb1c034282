// SPDX-License-Identifier: Apache-2.0
//
// The Swift runtime's per-thread list of open exclusive accesses.
//
// Its records lie on the stacks of the code that opened them. A coroutine that goes on on another
// thread, or a stack that is given back, must therefore carry its part of the list along: these two
// functions, which the runtime exports for its own tasks, take it off and put it back.
#ifndef CCK_EXCLUSIVITY_H
#define CCK_EXCLUSIVITY_H

#include "cck_base.h"

#if defined(__APPLE__)
#define CCK_WEAK __attribute__((weak_import))
#else
#define CCK_WEAK __attribute__((weak))
#endif

extern void swift_task_enterThreadLocalContext(char *_Nonnull state) CCK_WEAK;
extern void swift_task_exitThreadLocalContext(char *_Nonnull state) CCK_WEAK;

/// Adds the accesses kept in `state` (64 bytes, zero at first) to the calling thread's.
CCK_INLINE void cck_exclusivity_enter(uintptr_t *_Nonnull state) {
  if (swift_task_enterThreadLocalContext) swift_task_enterThreadLocalContext((char *)state);
}

/// Takes them off again, with those opened meanwhile, and keeps them in `state`.
CCK_INLINE void cck_exclusivity_exit(uintptr_t *_Nonnull state) {
  if (swift_task_exitThreadLocalContext) swift_task_exitThreadLocalContext((char *)state);
}

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Where in memory the Swift side keeps what crash reports and debuggers tell: bytes from the beginning of each
// structure, with words of 64 bits. DebugLayoutTests and CoroutineLayoutTests hold them against the compiler's.
#ifndef CCK_LAYOUT_H
#define CCK_LAYOUT_H

#include "cck_base.h"

/// Of the table below; another number when an entry changes its meaning or goes.
#define CCK_DEBUG_VERSION 1

// In `Fiber`; the `Coroutine` that it is part of goes on behind it.
#define CCK_FIBER_LINK_NEXT 0
#define CCK_FIBER_LINK_PERFORM 8
#define CCK_FIBER_STACK 104
#define CCK_FIBER_OPERATION 128
#define CCK_FIBER_OLDER 136  // In a list of unstarted ones; else what it waits on.
#define CCK_FIBER_IDENTIFIER 192
#define CCK_FIBER_PHASE 203
#define CCK_FIBER_ATTENTION 204
#define CCK_FIBER_EXTRAS 208
#define CCK_FIBER_SITE_START 216
#define CCK_FIBER_SITE_LENGTH 224  // 32 bits
#define CCK_FIBER_SITE_LINE 228    // 32 bits

// In the object that `extras` leads to.
#define CCK_EXTRAS_LABEL 40

// In `Home`.
#define CCK_HOME_RUN_FIRST 72
#define CCK_HOME_UNSTARTED 160
#define CCK_HOME_INBOX 168
#define CCK_UNSTARTED_NEWEST 24
#define CCK_UNSTARTED_ARRIVALS 64

/// A number that a debugger needs, and its name.
typedef struct cck_debug_fact {
  const char *_Nullable name;
  uintptr_t value;
} cck_debug_fact_t;

/// What `scripts/debuggers` need to find coroutines in a process or a core file: sizes, offsets, addresses; the
/// first is the version, and one without a name ends it.
extern const cck_debug_fact_t cck_debug_layout[];

#endif

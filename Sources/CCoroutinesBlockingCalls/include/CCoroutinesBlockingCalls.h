// SPDX-License-Identifier: Apache-2.0
//
// libc's blocking calls, taken over: each is defined here under its own name, looks whether it was made
// by a coroutine that may park, and goes straight to libc's own if not.
//
// The calls are in C, a family a file. What parking means they are told by the hooks below, which the
// Swift side fills in.
#ifndef CCOROUTINES_BLOCKING_CALLS_H
#define CCOROUTINES_BLOCKING_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "cbc_coverage.h"
#include "cbc_record.h"

/// What a wait came to.
typedef enum cbc_outcome {
  CBC_READY = 0,
  CBC_TIMED_OUT,
  CBC_CLOSED,     ///< The descriptor was closed by somebody else meanwhile.
  CBC_CANCELLED,  ///< The code that waits is cancelled.
  CBC_UNABLE,     ///< The wait could not begin: no descriptors or memory left.
} cbc_outcome_t;

typedef enum cbc_direction { CBC_READING = 0, CBC_WRITING = 1 } cbc_direction_t;

/// No deadline.
#define CBC_FOREVER INT64_MAX

/// What the calls need of the Swift side. All are called on a coroutine, with no lock held.
typedef struct cbc_hooks {
  /// Parks until a call on the descriptor would not block. `deadline` is a time of cck_clock_now().
  cbc_outcome_t (*_Nonnull wait)(int descriptor, cbc_direction_t direction, int64_t deadline);
  /// Parks for so many nanoseconds of the scheduler's time; 0 gives up the turn. READY or CANCELLED.
  cbc_outcome_t (*_Nonnull sleep)(int64_t nanoseconds);
  /// The time that `sleep` goes by, in nanoseconds.
  int64_t (*_Nonnull now)(void);
  /// Runs `work(context)` on a thread that may block, and parks meanwhile. READY once it has ended;
  /// CANCELLED if it has not begun, and then it never will.
  cbc_outcome_t (*_Nonnull offload)(
      void (*_Nonnull work)(void *_Nonnull context), void *_Nonnull context);
  /// The same, but a cancelled caller goes on at once even if the work has begun; `drop(context)` is
  /// then called when nobody uses the context any more.
  cbc_outcome_t (*_Nonnull offload_or_leave)(
      void (*_Nonnull work)(void *_Nonnull context), void *_Nonnull context,
      void (*_Nonnull drop)(void *_Nonnull context));
  /// A descriptor that somebody waits for is about to be closed; on any thread.
  void (*_Nonnull closing)(int descriptor);
  /// Parking is switched on for the running coroutine by a scope (1), off by one (0), or there is no
  /// scope (-1).
  int (*_Nonnull scope)(void);
  /// The code that runs is cancelled: it cannot park any more.
  int (*_Nonnull is_cancelled)(void);
  /// The running coroutine is where it may park: not inside another queue's `sync`.
  int (*_Nonnull may_park)(void);
} cbc_hooks_t;

/// Gives the calls their hooks, once, before anything is switched on.
void cbc_install(const cbc_hooks_t *_Nonnull hooks);

/// Switches parking on or off for every coroutine of the process that is in no scope.
void cbc_set_enabled(int enabled);

/// 1 if it is on.
int cbc_is_enabled(void);

/// A scope comes into being, or goes: as long as there is one, each call asks `scope`.
void cbc_scope_began(void);
void cbc_scope_ended(void);

/// A call that keeps its thread for so many nanoseconds or more counts as having blocked.
void cbc_set_block_threshold(int64_t nanoseconds);

/// Test hook: 0 has reads of files offloaded even if the system has the bytes in memory.
void cbc_set_reads_cached_at_once(int at_once);

#endif

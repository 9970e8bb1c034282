// SPDX-License-Identifier: Apache-2.0

/// What a recorded event tells; see cck_trace.h for its fields.
package enum TraceKind: UInt8, Sendable {
  /// The coroutine has been launched, by `other`; `object` is where, and its name.
  case launch = 1
  /// The coroutine is there; this thread has met it for the first time.
  case meet
  /// The coroutine goes on.
  case run
  /// It waits: in the call whose name `other` points to, for `object`, or (`flags` 1) for the coroutine whose
  /// number ends in it.
  case park
  /// It has given up its turn.
  case yield
  /// It has ended; `flags` is a `TraceEnd`.
  case end
  /// It has been made ready, by the coroutine `other`.
  case wake
  /// Its cancellation has been asked for, by `other`.
  case cancel
  /// A timer of this lane has fired, `other` nanoseconds after its deadline.
  case timer
  /// The loop sleeps.
  case sleep
  /// It does no longer.
  case awake
  /// Blocking work for the coroutine begins on this thread.
  case offload
  /// It has ended.
  case offloaded
  /// The coroutine's value went to the coroutine `other` (`flags` 1), or into the slot `other` of `object`.
  case send
  /// It got a value from the coroutine `other` (`flags` 1), or out of the slot `other` of `object`.
  case receive
  /// Its value was dropped by the channel `object`, which is full.
  case drop
  /// It has closed the channel `object`.
  case close
  /// The kept values of the channel `object` have moved to slot 0 and on; the oldest was in the slot
  /// of `other`'s upper half, of as many as its lower half says.
  case grow
}

/// How a coroutine ended.
package enum TraceEnd: UInt8, Sendable {
  case value, error, cancelled
}

// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel

/// How event loops learn which descriptors are ready.
///
/// ```swift
/// print("waits with \(IOBackend.current)")
/// ```
///
/// What programs see is the same with each, but for two things. With io_uring,
/// - a descriptor that is not a stream's or a listener's, and that somebody closes while a coroutine waits for it,
///   stays open until that wait ends;
/// - a call of other code on a loop's thread that blocks in the system may end with `EINTR`, as after a signal.
public enum IOBackend: String, Sendable, CustomStringConvertible {
  /// Linux.
  case epoll
  /// Linux from 5.19 on, where the system and its containers allow it and the environment asks for it:
  /// `COROUTINES_POLLER=io_uring`.
  ///
  /// Each loop that waits for descriptors has a ring of its own: a quarter of a megabyte of the kernel's memory,
  /// and 16 bytes for each descriptor number up to the greatest that it has waited for.
  case ioUring = "io_uring"
  /// Apple systems.
  case kqueue

  /// The one that runs in this process.
  ///
  /// Decided at the first use, from the environment's `COROUTINES_POLLER`: `epoll` or `io_uring`. A value that
  /// means nothing, or an io_uring that the system does not allow, is told on standard error, and the system's
  /// usual one runs; as it does for a loop for which the system has no further ring, and always for coroutines
  /// on dispatch queues. Does not wait.
  public static var current: IOBackend {
    switch cck_poller_loop_kind() {
    case CCK_POLLER_URING: .ioUring
    case CCK_POLLER_KQUEUE: .kqueue
    default: .epoll
    }
  }

  /// One word: "epoll", "io_uring" or "kqueue".
  public var description: String { rawValue }
}

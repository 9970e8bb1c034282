// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// Threads that do nothing until another one wakes them.
///
/// When all threads of the process are of this kind, and nothing has been posted to any loop, nothing will ever happen
/// again: whoever could wake a coroutine would have to run first. That is what makes a deadlock certain, without
/// knowing who holds what. What is left out of the reckoning: a handler of a signal that wakes somebody, which no
/// handler may do, and a debugger.
///
/// Invariants:
/// - Q1. A loop is in `loops` only while its thread sleeps without a deadline, without waiting for a descriptor, and
///   with no coroutine that awaits a task or a thread; it enters and leaves by itself, under the lock.
/// - Q2. `standing` counts threads of the library that serve nobody but by being woken, and are asleep.
enum QuietThreads {
  private static let lock = AllocatedLock()
  // SAFETY: all three guarded by `lock`.
  nonisolated(unsafe) private static var loops: [UnsafeMutableRawPointer: Loop] = [:]
  nonisolated(unsafe) private static var standing = 0
  nonisolated(unsafe) private static var isReported = false

  private struct Loop {
    let home: UnsafeMutablePointer<Home>
    /// Somebody waits outside until its coroutines have ended.
    let isAwaited: Bool
  }

  /// Runs `body`, in which the calling thread sleeps until it is woken.
  static func stands(_ body: () -> Void) {
    lock.withUnobservedLock { standing += 1 }
    body()
    lock.withUnobservedLock { standing -= 1 }
  }

  /// The calling thread's loop is about to sleep until it is woken.
  ///
  /// - Parameters:
  ///   - home: The loop.
  ///   - isAwaited: `runBlocking` waits for its coroutines.
  ///   - idle: Number of other threads of the library that are asleep now.
  /// - Returns: True if nobody is left who could wake it, and this has not been found before.
  static func enter(_ home: UnsafeMutablePointer<Home>, isAwaited: Bool, idle: Int) -> Bool {
    lock.withUnobservedLock {
      loops[UnsafeMutableRawPointer(home)] = Loop(home: home, isAwaited: isAwaited)
      guard !isReported, loops.values.contains(where: \.isAwaited),
        // A loop that has been woken has its post until it runs, for which it needs the lock.
        !isPosted,
        // After that, because it is a look into a directory of the system's.
        Int(cck_thread_count()) == loops.count + standing + idle,
        // A thread that is not there any more may have posted in between.
        !isPosted
      else { return false }
      isReported = true
      return true
    }
  }

  private static var isPosted: Bool { loops.values.contains { $0.home.hasPost } }

  /// The calling thread's loop is awake.
  static func leave(_ home: UnsafeMutablePointer<Home>) {
    lock.withUnobservedLock { _ = loops.removeValue(forKey: UnsafeMutableRawPointer(home)) }
  }
}

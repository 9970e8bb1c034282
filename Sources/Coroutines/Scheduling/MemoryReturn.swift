// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// When a loop gives the memory of free stacks back to the system (M2 in depot.h): the process's, not its own only.
///
/// A program of waves, each with more coroutines than are kept warm, would else give back what the next wave takes
/// again, a microsecond each way; and whoever has just ended a hundred thousand would wait for a tenth of a second
/// before it could tell anybody.
struct MemoryReturn {
  /// A loop that has had nothing to do for so long, in nanoseconds, is not between two waves.
  private static let patience: Int64 = 10_000_000
  /// Stacks at a time, so that whatever comes meanwhile waits for a millisecond at most.
  private static let portion = 1024
  /// The same, of a loop that has other work.
  private static let smallPortion = 64

  private let thread: ThreadRecord
  private let before: Int32

  /// The calling thread begins to run a loop.
  init(_ thread: ThreadRecord) {
    self.thread = thread
    before = thread.pointee.returns_memory
    // What is explored must not depend on real time.
    thread.pointee.returns_memory = currentPreemptionObserver() == nil ? 1 : 0
  }

  /// The loop has ended.
  func end() {
    thread.pointee.returns_memory = before
    if cck_stack_memory_is_due() != 0 { cck_stack_return_memory(.max) }
  }

  /// The loop looks around between two coroutines.
  @inline(__always)
  func look(at now: Int64) {
    if cck_stack_memory_is_overdue(now) != 0 { cck_stack_return_memory(Self.smallPortion) }
  }

  /// How long to sleep at first, for a loop that may sleep for `timeout`: less, if something is to be given back then.
  ///
  /// - Parameter timeout: Nanoseconds; negative for ever.
  /// - Returns: Nanoseconds, to be followed by `sleptThrough` if nothing has come; nil if it may as well sleep for
  ///   `timeout`.
  @inline(__always)
  func firstSleep(of timeout: Int64) -> Int64? {
    guard cck_stack_memory_is_due() != 0, timeout < 0 || timeout > Self.patience else { return nil }
    return thread.pointee.returns_memory != 0 ? Self.patience : nil
  }

  /// Nothing has come for so long.
  func sleptThrough() { cck_stack_return_memory(Self.portion) }
}

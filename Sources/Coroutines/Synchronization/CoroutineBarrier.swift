// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// A place where a number of parties wait for each other, round after round.
///
/// ```swift
/// let step = CoroutineBarrier(parties: 3)
/// for part in parts {
///   launch {
///     while try part.compute() { try step.wait() }
///     step.leave()
///   }
/// }
/// ```
///
/// When the last of the parties comes, all of them go on, and the next round begins.
///
/// A cancelled wait takes its party back, as if it had not come (rule 3): the barrier is not broken, and the
/// others wait on, until that party or another comes. A party that will not come again says so with `leave`;
/// in a scope, the error that ended it cancels the others.
public final class CoroutineBarrier: @unchecked Sendable {
  // SAFETY: a constant; the state is guarded by its lock.

  private struct State {
    /// How many make a round.
    var parties: Int
    /// At least as many as wait: those who were cancelled still count until somebody counts again.
    var arrived = 0
  }

  private let cell: WaitingState<State>

  /// A barrier at which nobody waits.
  ///
  /// - Parameter parties: How many make a round; 1 or more.
  public init(parties: Int) {
    demand(parties > 0, "A barrier for \(parties) parties; there must be 1 or more.")
    cell = WaitingState(State(parties: parties), isBiased: false)
  }

  deinit { cell.deallocate() }

  /// How many make a round.
  public var parties: Int { cell.lock.withLock { cell.state.pointee.parties } }

  /// How many wait now.
  public var waiting: Int { cell.lock.withLock { countWaiting() } }

  /// Parks until all parties have come.
  ///
  /// The last one does not park: it makes the others ready and runs on.
  ///
  /// *Cancellation:* takes the party back, unless the round is complete: then the wait is over.
  ///
  /// - Returns: True for the one party of the round that came last; false for all if the round was completed by
  ///   `leave`.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  @discardableResult
  public func wait() throws -> Bool {
    let thread = currentThread()
    let fiber = try Parking.begin("CoroutineBarrier.wait()", thread)
    let mode = cell.lock.acquire(thread)
    guard cell.state.pointee.parties > 0 else {
      cell.lock.release(mode)
      fatalError(
        "CoroutineBarrier.wait(): all parties have left. Do not wait after leave()."
      )
    }
    cell.state.pointee.arrived += 1
    if isComplete(and: 1) {
      completeRound(mode)
      return true
    }
    fiber.waits(for: self)
    if cell.park(fiber, thread, mode) == .cancelled { throw CancellationError() }
    return false
  }

  /// Takes one party away for good: the rounds need one less, beginning with this one.
  ///
  /// If the others are all there, they go on. Does not park; may be called from any thread.
  ///
  /// - Precondition: Not all parties have left.
  public func leave() {
    let mode = cell.lock.acquire(currentThread())
    let left = cell.state.pointee.parties - 1
    if left >= 0 { cell.state.pointee.parties = left }
    if left > 0, isComplete(and: 0) {
      completeRound(mode)
      return
    }
    cell.lock.release(mode)
    demand(
      left >= 0,
      "CoroutineBarrier.leave(): all parties have left already. Each party leaves once."
    )
  }

  // MARK: - How it is done

  /// Under the lock: those who wait, and `extra` more, make a round.
  ///
  /// Counts only when it may be so, hence once a round if nobody is cancelled.
  private func isComplete(and extra: Int) -> Bool {
    guard cell.state.pointee.arrived >= cell.state.pointee.parties else { return false }
    cell.state.pointee.arrived = countWaiting() + extra
    return cell.state.pointee.arrived >= cell.state.pointee.parties
  }

  /// Begins the next round, leaves the lock and wakes those who wait.
  private func completeRound(_ mode: LockMode) {
    var wakes = ResumeList()
    cell.state.pointee.arrived = 0
    wakes.claimAll(of: &cell.queue.pointee, .delivered)
    cell.lock.release(mode)
    wakes.resumeAll()
  }

  private func countWaiting() -> Int {
    var count = 0
    var waiter = cell.queue.pointee.first
    while let current = waiter {
      count += 1
      waiter = current.pointee.next
    }
    return count
  }
}

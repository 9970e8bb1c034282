// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// The coroutine that an actor, a child or a supervisor runs in now, and its end for good, for which others wait.
final class Lifetime: @unchecked Sendable {
  // SAFETY: the state is guarded by its lock.

  private struct State {
    /// The incarnation that runs, or ran last.
    var coroutine: Coroutine?
    /// What ended it, once it is over.
    var failure: (any Error)?
    /// It is to end, in this incarnation or the next.
    var isCancelled = false
    /// It has ended for good.
    var isOver = false
  }

  private let cell = WaitingState(State(), isBiased: false)

  deinit { cell.deallocate() }

  /// Notes the coroutine of a new incarnation, and cancels it if that has been asked for.
  func adopt(_ coroutine: Coroutine) {
    let (isCancelled, old) = cell.lock.withLock {
      let old = cell.state.pointee.coroutine
      cell.state.pointee.coroutine = coroutine
      return (cell.state.pointee.isCancelled, old)
    }
    // Released after the lock.
    withExtendedLifetime(old) {}
    if isCancelled { coroutine.cancel() }
  }

  /// Cancels this incarnation, and those to come.
  func cancel() {
    let coroutine = cell.lock.withLock {
      cell.state.pointee.isCancelled = true
      return cell.state.pointee.coroutine
    }
    coroutine?.cancel()
  }

  /// `cancel` has been called.
  var isCancelled: Bool { cell.lock.withLock { cell.state.pointee.isCancelled } }

  /// Notes what ends it.
  func fail(_ failure: (any Error)?) {
    cell.lock.withLock { cell.state.pointee.failure = failure }
  }

  /// It has ended for good: those who wait become ready.
  ///
  /// - Parameter last: Done when it counts as over, before anybody is woken.
  func finish(_ last: () -> Void) {
    var wakes = ResumeList()
    let mode = cell.lock.acquire(currentThread())
    let wasOver = cell.state.pointee.isOver
    cell.state.pointee.isOver = true
    wakes.claimAll(of: &cell.queue.pointee, .delivered)
    cell.lock.release(mode)
    if !wasOver { last() }
    wakes.resumeAll()
  }

  /// It has ended for good.
  var isOver: Bool { cell.lock.withLock { cell.state.pointee.isOver } }

  /// What ended it.
  var failure: (any Error)? { cell.lock.withLock { cell.state.pointee.failure } }

  /// What ended it, which somebody has now seen.
  var observedFailure: (any Error)? {
    let (failure, coroutine) = cell.lock.withLock {
      (cell.state.pointee.failure, cell.state.pointee.coroutine)
    }
    if failure != nil { coroutine?.isObserved.set() }
    return failure
  }

  /// Parks until it has ended for good.
  func join(_ operation: StaticString) throws {
    let state = cell.state
    let running = cell.lock.withLock { state.pointee.coroutine?.fiber }
    if let running, currentThread().runningFiber == running { throw CoroutineError.joinsItself }
    try Parking.wait(operation, on: cell.queue, cell.lock, unless: { state.pointee.isOver })
    _ = observedFailure
  }

  /// Suspends a task until it has ended for good.
  func join() async throws {
    try await TaskWait.wait(
      on: cell.queue,
      cell.lock,
      unless: { self.cell.state.pointee.isOver }
    )
    _ = observedFailure
  }
}

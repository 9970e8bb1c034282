// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Synchronization

extension Coroutine {
  /// Asks the coroutine, and its children, to stop.
  ///
  /// If it is parked, its wait ends with `CancellationError`, and what it waited on is as if the wait
  /// had never begun; if it runs, its next park point throws. Either way its `defer` blocks run. If it
  /// has not started, its body never runs. Cancelling twice, or after the end, has no effect. Code
  /// inside `withCancellationShield` is not disturbed until it leaves the shield.
  ///
  /// Can be called from any thread; returns at once, normally before the coroutine has ended:
  /// `cancelAndJoin` waits for that.
  public final func cancel() {
    guard !isFinished, requestCancellation() else { return }
    let fiber = fiber
    if currentThread().currentHome == fiber.pointee.home {
      CancellationScope.deliver(to: fiber, from: nil)
      return
    }
    postWhileAlive {
      CancellationScope.deliver(to: self.fiber, from: nil)
    }
  }

  /// Notes that cancellation has been asked for.
  ///
  /// - Returns: True if it had not been before.
  @usableFromInline
  final func requestCancellation() -> Bool {
    preemptionPoint(.flag, fiber)
    guard cancellationRequest.set() else { return false }
    preemptionPoint(.flag, fiber)
    fiber.pointee.attention.store(true, ordering: .sequentiallyConsistent)
    return true
  }

  /// Has the home scheduler run `work`, unless the coroutine has ended.
  ///
  /// Its end takes the same lock, so the scheduler is there while the message is on its way.
  package final func postWhileAlive(_ work: @escaping () -> Void) {
    let lock = fiber.joinLock
    lock.withLock {
      guard !isFinished else { return }
      _ = fiber.pointee.home.core.post {
        guard !self.isFinished else { return }
        work()
      }
    }
  }

  /// Throws if the running code has been cancelled; does not park.
  ///
  /// For long computations between park points. Outside a coroutine it never throws.
  ///
  /// - Throws: `CancellationError`.
  public static func checkCancellation() throws {
    guard let fiber = currentThread().runningFiber else {
      return
    }
    if CancellationScope.isCancelled(fiber) { throw CancellationError() }
  }

  /// True if the running code has been cancelled: the coroutine, or a timeout or scope it is in.
  ///
  /// Within a shield, only what was cancelled inside the shield counts. False outside a coroutine.
  public static var isCancelled: Bool {
    guard let fiber = currentThread().runningFiber else {
      return false
    }
    return CancellationScope.isCancelled(fiber)
  }
}

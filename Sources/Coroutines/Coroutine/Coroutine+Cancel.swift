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
    performAtHome { CancellationScope.deliver(to: self.fiber, from: nil) }
  }

  /// Cancels it because its parent is.
  ///
  /// - Parameter reached: Gets it if the caller's loop holds it: the caller sees to its children and waits.
  ///   (Calling it from here would be recursion, as deep as the line of descendants is long.)
  final func cancelWithParent(_ reached: inout [UnsafeMutablePointer<Fiber>]) {
    guard !isFinished, requestCancellation() else { return }
    switch standing {
    case .here: reached.append(fiber)
    case .unclaimed: break
    case .elsewhere: postWhileAlive { CancellationScope.deliver(to: self.fiber, from: nil) }
    }
  }

  /// Has its home's loop do `work` with its waits and children, unless it has ended: at once if that is
  /// the caller.
  ///
  /// Nothing is done for one that lies in a pool and has not started: it has neither waits nor children,
  /// and may be taken over by another loop any moment.
  @inline(__always)
  package final func performAtHome(_ work: @escaping () -> Void) {
    switch standing {
    case .here: work()
    case .unclaimed: break
    case .elsewhere: postWhileAlive(work)
    }
  }

  /// Where it is, seen from the calling thread.
  @inline(__always)
  private final var standing: Standing {
    preemptionPoint(.home, fiber)
    let home = fiber.pointee.home
    guard currentThread().currentHome == home else { return .elsewhere }
    return home.pointee.pool == nil ? .here : home.standing(of: fiber)
  }

  /// Notes that cancellation has been asked for.
  ///
  /// - Returns: True if it had not been before.
  @usableFromInline
  final func requestCancellation() -> Bool {
    preemptionPoint(.flag, fiber)
    guard cancellationRequest.setFirst() else { return false }
    if isTracing { Recorder.cancels(fiber) }
    preemptionPoint(.flag, fiber)
    fiber.pointee.attention.store(true, ordering: .sequentiallyConsistent)
    return true
  }

  /// Sends `work` to the home's loop.
  ///
  /// The coroutine's end takes the same lock, so the scheduler is there while the message is on its way.
  /// If another loop has taken the coroutine over meanwhile, the message is sent on.
  private final func postWhileAlive(_ work: @escaping () -> Void) {
    let lock = fiber.joinLock
    lock.withLock {
      guard !isFinished else { return }
      preemptionPoint(.home, fiber)
      _ = fiber.pointee.home.core.post {
        if !self.isFinished { self.performAtHome(work) }
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

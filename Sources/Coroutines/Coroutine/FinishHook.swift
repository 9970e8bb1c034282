// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Synchronization

extension Coroutine {
  /// Calls `hook` when the body has ended, before joiners go on; at once if it has ended already.
  ///
  /// From any thread. Hooks run on the coroutine's scheduler, in the order of their registration, and must not park. Those
  /// registered on another scheduler, or for a coroutine of a pool, are in line with the joiners: they come after the
  /// others, and before whoever joins later.
  ///
  /// - Parameter hook: What to do.
  public final func onFinish(_ hook: @escaping () -> Void) {
    if isFinished {
      hook()
    } else if isHere {
      requiredExtras.finishHooks.append(hook)
    } else {
      standInLine(hook)
    }
  }

  /// Its turns are on this thread for as long as this call takes, so it does not end meanwhile.
  private final var isHere: Bool {
    guard let home = currentThread().currentHome else { return false }
    // In a pool another loop may take it before it has begun.
    return home == fiber.pointee.home && home.pointee.pool == nil
  }

  /// Calls `hook` when it is told of the end, as those who join are.
  private final func standInLine(_ hook: @escaping () -> Void) {
    let (fiber, lock) = (fiber, fiber.joinLock)
    let notice = WaitNotice.make(for: fiber.joiners, lock) {
      // What the hook launches is no child of one that has ended.
      let thread = currentThread()
      let ended = thread.runningFiber
      thread.runningFiber = nil
      hook()
      thread.runningFiber = ended
    }
    let isInTime = lock.withLock {
      if fiber.pointee.phase.load(ordering: .acquiring) == .dead { return false }
      fiber.joiners.pointee.append(notice)
      return true
    }
    if !isInTime {
      WaitNotice.drop(notice)
      hook()
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Synchronization

extension Channel {
  /// Ends a coroutine's wait on this channel as if the coroutine were cancelled; only this wait.
  ///
  /// Nothing happens if it does not wait here. From any thread.
  ///
  /// - Parameter coroutine: Whose wait to end.
  package func withdrawWait(of coroutine: Coroutine) {
    coroutine.performAtHome { [self] in
      let fiber = coroutine.fiber
      noteAccess(fiber)
      guard fiber.pointee.phase.load(ordering: .relaxed) == .suspended,
        let waiter = fiber.pointee.waiter, waiter.pointee.lock == core.lock,
        waiter.withdraw(.cancelled)
      else { return }
      fiber.makeReady(currentThread())
    }
  }
}

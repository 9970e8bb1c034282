// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

extension Promise {
  /// Parks until something outside the coroutines' world, a thread or a task, has settled the promise.
  ///
  /// A scheduler with virtual time lets no time pass meanwhile. Cancellation cancels the promise.
  func waitForOutside(in call: StaticString) throws -> Outcome {
    guard let core = currentThread().runningFiber?.pointee.home.core else {
      return try waitUntilSettled(onCancellation: .cancelPromise, in: call)
    }
    core.outsideWaits += 1
    defer { core.outsideWaits -= 1 }
    return try waitUntilSettled(onCancellation: .cancelPromise, in: call)
  }
}

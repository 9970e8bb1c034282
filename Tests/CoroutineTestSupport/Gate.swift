// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines

/// The simplest thing to wait for: closed until somebody opens it.
package final class Gate: @unchecked Sendable {
  // SAFETY: `isOpen` is guarded by the point's lock.
  private let point = WaitPoint()
  private var isOpen = false

  package init() {}

  /// Parks until the gate is open, or somebody lets this coroutine through.
  package func wait() throws {
    try Parking.wait("Gate.wait()", on: point.queue, point.lock, unless: { isOpen })
  }

  /// Lets everybody through, now and later.
  package func open() {
    var wakes = ResumeList()
    point.lock.withLock {
      isOpen = true
      point.claimAll(&wakes)
    }
    wakes.resumeAll()
  }

  /// Lets through the one who has waited longest.
  ///
  /// - Returns: False if nobody waits.
  @discardableResult
  package func openForOne() -> Bool {
    var wakes = ResumeList()
    let found = point.lock.withLock {
      let queue = point.queue
      guard let first = queue.pointee.claimFirst() else { return false }
      wakes.append(first, .delivered)
      return true
    }
    wakes.resumeAll()
    return found
  }

  /// Somebody is parked here.
  package var hasWaiters: Bool { point.lock.withLock { !point.queue.pointee.isEmpty } }
}

// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
package import CoroutineKernel

/// A lock and a queue of those who wait under it, in memory that does not move.
package struct WaitPoint: ~Copyable, @unchecked Sendable {
  // SAFETY: constant pointers; the queue is guarded by the lock.

  /// Guards `queue` and whatever its owner says.
  package let lock: UnsafeMutablePointer<Lock>
  /// Those who wait.
  package let queue: UnsafeMutablePointer<WaitQueue>

  /// A point at which nobody waits.
  package init() {
    lock = .allocate(capacity: 1)
    lock.initialize(to: cck_lock_make_shared())
    queue = .allocate(capacity: 1)
    queue.initialize(to: WaitQueue())
  }

  /// Claims everybody, under the lock.
  ///
  /// Through a pointer of its own, because `&point.queue.pointee` counts as an access to the point,
  /// which others read without the lock.
  package func claimAll(_ wakes: inout ResumeList) {
    let queue = queue
    wakes.claimAll(of: &queue.pointee, .delivered)
  }

  deinit {
    assert(queue.pointee.isEmpty, "a wait point goes away while somebody waits at it")
    lock.deallocate()
    queue.deallocate()
  }
}

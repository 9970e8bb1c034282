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

  deinit {
    assert(queue.pointee.isEmpty, "a wait point goes away while somebody waits at it")
    lock.deallocate()
    queue.deallocate()
  }
}

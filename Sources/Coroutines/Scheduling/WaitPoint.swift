// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
package import CoroutineKernel

/// A lock and a queue of those who wait under it, in memory that does not move.
package struct WaitPoint: ~Copyable, @unchecked Sendable {
  // SAFETY: constant pointers into memory of its own; the queue is guarded by the lock.

  private struct Block: ~Copyable {
    var lock = cck_lock_make_shared()
    var queue = WaitQueue()
  }

  private let block: UnsafeMutablePointer<Block>

  /// Guards `queue` and whatever its owner says.
  package let lock: UnsafeMutablePointer<Lock>
  /// Those who wait.
  package let queue: UnsafeMutablePointer<WaitQueue>

  /// A point at which nobody waits.
  package init() {
    block = .allocate(capacity: 1)
    block.initialize(to: Block())
    // SAFETY: allocated memory does not move.
    lock = withUnsafeMutablePointer(to: &block.pointee.lock) { $0 }
    queue = withUnsafeMutablePointer(to: &block.pointee.queue) { $0 }
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
    block.deinitialize(count: 1)
    block.deallocate()
  }
}

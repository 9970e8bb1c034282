// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization

/// A lock, what it guards, and the queue of those who wait for that to change: one block of memory.
///
/// All objects of this folder are thin over it. The lock of those that are taken again and again is
/// biased, as a channel's: coroutines of one event loop share them without an atomic operation.
///
/// Its owner gives the memory back, in its `deinit`. (A structure with a `deinit` of its own cannot be copied, and then
/// what changes `cell.queue.pointee` counts, for ThreadSanitizer, as an access to `cell`, which others read.)
struct WaitingState<State>: @unchecked Sendable {
  // SAFETY: constant pointers; what they point to is guarded by the lock.

  /// Those who wait, in the order of their coming.
  let queue: UnsafeMutablePointer<WaitQueue>
  /// Guards the queue and the state.
  let lock: UnsafeMutablePointer<Lock>
  /// The state.
  let state: UnsafeMutablePointer<State>

  /// The three together.
  ///
  /// The lock is not the first, for the reason given at `ChannelCore`.
  private struct Block {
    var queue = WaitQueue()
    var lock: Lock
    var state: State
  }

  private let block: UnsafeMutablePointer<Block>

  /// A state that nobody waits for.
  init(_ initial: State, isBiased: Bool) {
    let block = UnsafeMutablePointer<Block>.allocate(capacity: 1)
    block.initialize(
      to: Block(
        lock: isBiased ? Lock.forFew(currentThread()) : cck_lock_make_shared(),
        state: initial
      )
    )
    // SAFETY: allocated memory does not move. The addresses are taken once, here: in Swift that counts as an
    // access to the field, and others look at it without the lock.
    self.block = block
    queue = withUnsafeMutablePointer(to: &block.pointee.queue) { $0 }
    lock = withUnsafeMutablePointer(to: &block.pointee.lock) { $0 }
    state = withUnsafeMutablePointer(to: &block.pointee.state) { $0 }
  }

  /// Gives the memory back.
  func deallocate() {
    assert(queue.pointee.isEmpty, "a waiting state goes away while somebody waits for it")
    block.deinitialize(count: 1)
    block.deallocate()
  }

  /// Puts a node at the end of the queue, and leaves the lock, which the caller holds.
  @inline(__always)
  func enqueue(_ waiter: UnsafeMutablePointer<Waiter>, _ mode: LockMode) {
    waiter.pointee.queue = queue
    waiter.pointee.lock = lock
    queue.pointee.append(waiter)
    lock.release(mode)
  }

  /// Parks the running coroutine at the end of the queue.
  ///
  /// The caller holds the lock, which this leaves.
  ///
  /// - Parameters:
  ///   - fiber: The running coroutine.
  ///   - thread: The calling thread.
  ///   - mode: How the lock was taken.
  ///   - slot: What the one who ends the wait has to know; in the caller's frame.
  ///   - isCancellable: Cancellation ends the wait; without it, only others do.
  ///   - meanwhile: Done when the wait can be ended already, just before the switch.
  /// - Returns: How the wait ended.
  @inline(never)
  func park(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord,
    _ mode: LockMode,
    slot: UnsafeMutableRawPointer? = nil,
    isCancellable: Bool = true,
    _ meanwhile: () -> Void = {}
  ) -> WaitOutcome {
    // The node stays in this frame until the coroutine has been resumed (W3).
    withWaiter(for: fiber, and: Void.self) { waiter, _ in
      waiter.pointee.slot = slot
      enqueue(waiter, mode)
      meanwhile()
      fiber.park(thread, isCancellable ? waiter : nil)
      return waiter.pointee.outcome
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import Synchronization

/// How a wait ended.
@usableFromInline
package enum WaitOutcome: UInt8, Sendable {
  /// Nobody has ended it yet.
  case waiting
  /// The thing that was waited for happened; a value may have been moved through `slot`.
  case delivered
  /// The object was closed.
  case closed
  /// The waiting coroutine was cancelled; the object is as if the wait had never begun.
  case cancelled
  /// The time for it has passed; the object is as if the wait had never begun.
  case timedOut
}

/// One party waiting on one object: a node on the waiting coroutine's own stack.
///
/// Invariants:
/// - W1. `next`, `previous`, `isLinked` and `outcome` are written under `lock` while the node is in a
///   queue; all else is written before it enters one.
/// - W2. Whoever takes the node off its queue (or wins its race) ends the wait: no one else touches it
///   afterwards. That is what makes wake-ups happen once.
/// - W3. The node lives until its coroutine runs again, which happens after its resume token is used.
@usableFromInline
package struct Waiter {
  /// Neighbours in the queue.
  @usableFromInline package var next: UnsafeMutablePointer<Waiter>?
  @usableFromInline package var previous: UnsafeMutablePointer<Waiter>?
  /// The queue that this node is, or was last, linked in.
  @usableFromInline package var queue: UnsafeMutablePointer<WaitQueue>?
  /// The lock of that queue; nil for waits that only their own scheduler can end (timers).
  @usableFromInline package var lock: Optional<UnsafeMutablePointer<cck_lock_t>>
  /// The coroutine to wake; nil if `callback` is to be called instead.
  @usableFromInline package var fiber: UnsafeMutablePointer<Fiber>?
  /// Where the value comes from (a sender's) or goes to (a receiver's); of a select as a whole, its clauses' nodes.
  @usableFromInline package var slot: UnsafeMutableRawPointer?
  /// The select that this node is a clause of, if it is one.
  @usableFromInline package var race: UnsafeMutablePointer<WaitRace>?
  /// Ends the wait of something that is not a coroutine: a task, or an adopted promise.
  @usableFromInline package var callback: KernelFunction?
  /// An object for `callback`; of a select as a whole, its entries.
  @usableFromInline package var context: UnsafeMutableRawPointer?
  /// Position among the clauses of a select.
  @usableFromInline package var clause: Int32
  /// How the wait ended.
  @usableFromInline package var outcome: WaitOutcome
  /// The node is in `queue` now.
  @usableFromInline package var isLinked: Bool

  /// A node for `fiber`, not yet in a queue.
  @inlinable @inline(__always)
  package init(fiber: UnsafeMutablePointer<Fiber>?, slot: UnsafeMutableRawPointer? = nil) {
    self.next = nil
    self.previous = nil
    self.queue = nil
    self.lock = nil
    self.fiber = fiber
    self.slot = slot
    self.race = nil
    self.callback = nil
    self.context = nil
    self.clause = 0
    self.outcome = .waiting
    self.isLinked = false
  }
}

/// What the clauses of one parked select share: the first to be claimed wins.
@usableFromInline
package struct WaitRace: ~Copyable {
  /// Index of the winning clause, or -1.
  @usableFromInline package let winner = Atomic<Int32>(-1)

  /// A race that nobody has won.
  @inlinable
  package init() {}
}

extension UnsafeMutablePointer where Pointee == Waiter {
  /// Claims the wait for the caller.
  ///
  /// Always true outside a select: being in the queue is the claim.
  @inlinable @inline(__always)
  package func claim() -> Bool {
    guard let race = pointee.race else { return true }
    preemptionPoint(.claim, race)
    return race.pointee.winner.compareExchange(
      expected: -1,
      desired: pointee.clause,
      ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Takes the wait back on behalf of its own scheduler (cancellation, shutdown).
  ///
  /// - Returns: False if somebody else has ended it: then its wake-up is on the way.
  package func withdraw(_ outcome: WaitOutcome) -> Bool {
    guard let lock = pointee.lock else {
      // SAFETY: without a lock only the home scheduler ends the wait, and that is who runs this.
      guard pointee.outcome == .waiting, claim() else { return false }
      pointee.outcome = outcome
      return true
    }
    return lock.withLock {
      guard pointee.isLinked, let queue = pointee.queue else { return false }
      queue.pointee.remove(self)
      pointee.outcome = outcome
      return true
    }
  }
}

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
/// - W4. `watcher` goes from 0 to a home and back by the hand of that home's loop, which is the coroutine's, and from the
///   home to 1 by whoever has claimed the wait, who touches the node no more then. See `Home+Watch.swift`.
@usableFromInline
package struct Waiter: ~Copyable {
  /// Neighbours in the queue.
  @usableFromInline package var next: UnsafeMutablePointer<Waiter>?
  @usableFromInline package var previous: UnsafeMutablePointer<Waiter>?
  /// The coroutine to wake; nil if `callback` is to be called instead.
  @usableFromInline package var fiber: UnsafeMutablePointer<Fiber>?
  /// Where the value comes from (a sender's) or goes to (a receiver's); of a select as a whole, its clauses' nodes.
  @usableFromInline package var slot: UnsafeMutableRawPointer?
  /// Of a coroutine the home whose loop looks at this word, having nothing else to do; 0: none does; 1: the wait is over (W4).
  ///
  /// Of something that is not a coroutine `callback`: one word for both, because each park sets it.
  @usableFromInline let watcher: Atomic<UInt>
  /// The select that this node is a clause of, if it is one.
  @usableFromInline package var race: UnsafeMutablePointer<WaitRace>?
  /// Position among the clauses of a select.
  @usableFromInline package var clause: Int32
  /// How the wait ended.
  @usableFromInline package var outcome: WaitOutcome
  /// The node is in `queue` now.
  @usableFromInline package var isLinked: Bool
  /// The queue that this node is, or was last, linked in.
  @usableFromInline package var queue: UnsafeMutablePointer<WaitQueue>?
  /// The lock of that queue; nil for waits that only their own scheduler can end (timers).
  @usableFromInline package var lock: Optional<UnsafeMutablePointer<cck_lock_t>>
  /// An object for `callback`; of a select as a whole, its entries.
  @usableFromInline package var context: UnsafeMutableRawPointer?

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
    self.watcher = Atomic(0)
    self.context = nil
    self.clause = 0
    self.outcome = .waiting
    self.isLinked = false
  }
}

extension Waiter {
  /// Ends the wait of something that is not a coroutine: a task, or an adopted promise.
  ///
  /// - Precondition: `fiber` is nil.
  @inlinable @inline(__always)
  package var callback: KernelFunction? {
    // SAFETY: a function without a context is one pointer, and nil is 0; where there is no coroutine, the word is written
    // here only.
    get {
      unsafeBitCast(
        UnsafeRawPointer(bitPattern: watcher.load(ordering: .relaxed)),
        to: KernelFunction?.self
      )
    }
    nonmutating set {
      // SAFETY: as above.
      let function = unsafeBitCast(newValue, to: UnsafeRawPointer?.self)
      watcher.store(UInt(bitPattern: function), ordering: .relaxed)
    }
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
  /// Makes memory the node of a coroutine's wait in one queue, but for what the queue writes when the node is put into it.
  ///
  /// `clause` and `context` are nobody's then, and stay as they are, as does `outcome` until somebody ends the wait.
  @inlinable @inline(__always)
  package func begin(for fiber: UnsafeMutablePointer<Fiber>, slot: UnsafeMutableRawPointer?) {
    // SAFETY: plain words, to which nothing needs to be done before they are written; those left out are not read.
    pointee.fiber = fiber
    pointee.slot = slot
    watcherAndRace.storeBytes(of: SIMD2(0, 0), as: SIMD2<UInt>.self)
  }

  /// Two words that begin as nothing: one store.
  @inlinable @inline(__always)
  var watcherAndRace: UnsafeMutableRawPointer {
    // SAFETY: the fifth word and the sixth (WaiterFrameTests), inside the node.
    UnsafeMutableRawPointer(self) + 4 * MemoryLayout<UInt>.stride
  }

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

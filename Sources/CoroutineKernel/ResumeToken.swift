// SPDX-License-Identifier: Apache-2.0

/// The right, and the duty, to wake one waiting party once.
///
/// Made by whoever claimed a waiter (W2). It cannot be copied, so waking twice does not compile.
@usableFromInline
package struct ResumeToken: ~Copyable {
  @usableFromInline let waiter: UnsafeMutablePointer<Waiter>

  /// Takes over a waiter that the caller has claimed, and notes how its wait ended.
  @inlinable @inline(__always)
  package init(_ waiter: UnsafeMutablePointer<Waiter>, _ outcome: WaitOutcome) {
    waiter.pointee.outcome = outcome
    self.waiter = waiter
  }

  /// Makes the party ready to run: at the end of this scheduler's run queue if that is its home,
  /// else by a message to its home, or by a word in its node if its home looks there.
  ///
  /// Never runs it here. To be called after the object's lock was left.
  @inlinable @inline(__always)
  package consuming func resume(_ thread: ThreadRecord) {
    if let fiber = waiter.pointee.fiber {
      if !waiter.hasWatcher, fiber.makeReadyHere(thread) { return }
      waiter.resumeElsewhere(thread)
    } else if let callback = waiter.pointee.callback {
      callback(UnsafeMutableRawPointer(waiter))
    }
  }
}

/// Several tokens, taken under a lock and used after it, in order.
@usableFromInline
package struct ResumeList: ~Copyable {
  @usableFromInline var first: UnsafeMutablePointer<Waiter>?
  @usableFromInline var last: UnsafeMutablePointer<Waiter>?

  /// An empty list.
  @inlinable @inline(__always)
  package init() {
    first = nil
    last = nil
  }

  /// Nobody is in it.
  package var isEmpty: Bool { first == nil }

  /// Claims every party of the queue, each with this outcome.
  @inlinable @inline(__always)
  package mutating func claimAll(of queue: inout WaitQueue, _ outcome: WaitOutcome) {
    var next = queue.first
    queue = WaitQueue()
    while let waiter = next {
      next = waiter.pointee.next
      waiter.pointee.isLinked = false
      if waiter.claim() { append(waiter, outcome) }
    }
  }

  /// Adds a party that the caller has claimed.
  @inlinable
  package mutating func append(_ waiter: UnsafeMutablePointer<Waiter>, _ outcome: WaitOutcome) {
    waiter.pointee.outcome = outcome
    // SAFETY: a claimed node is in no queue, and no one else touches it (W2): its link is free.
    waiter.pointee.next = nil
    if let last {
      last.pointee.next = waiter
    } else {
      first = waiter
    }
    last = waiter
  }

  /// Wakes them all, in the order in which they were claimed.
  @inlinable @inline(__always)
  package consuming func resumeAll() {
    guard first != nil else { return }
    let thread = currentThread()
    while let waiter = first {
      first = waiter.pointee.next
      // SAFETY: the link was read first; after this the node may be gone (W3).
      ResumeToken(waiter, waiter.pointee.outcome).resume(thread)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// Waiting parties in the order of their coming.
///
/// Guarded by the lock of the object that owns it.
@usableFromInline
package struct WaitQueue {
  @usableFromInline package var first: UnsafeMutablePointer<Waiter>?
  @usableFromInline package var last: UnsafeMutablePointer<Waiter>?

  /// A queue with nobody in it.
  @inlinable @inline(__always)
  package init() {
    first = nil
    last = nil
  }

  /// Nobody waits.
  ///
  /// Clauses of a select that another clause has won still count.
  @inlinable @inline(__always)
  package var isEmpty: Bool { first == nil }

  /// Puts a node at the end.
  @inlinable @inline(__always)
  package mutating func append(_ waiter: UnsafeMutablePointer<Waiter>) {
    waiter.pointee.next = nil
    waiter.pointee.previous = last
    waiter.pointee.isLinked = true
    if let last {
      last.pointee.next = waiter
    } else {
      first = waiter
    }
    last = waiter
  }

  /// Puts a node before all others.
  package mutating func prepend(_ waiter: UnsafeMutablePointer<Waiter>) {
    waiter.pointee.next = first
    waiter.pointee.previous = nil
    waiter.pointee.isLinked = true
    if let first {
      first.pointee.previous = waiter
    } else {
      last = waiter
    }
    first = waiter
  }

  /// Takes a node out, wherever it stands.
  @inlinable @inline(__always)
  package mutating func remove(_ waiter: UnsafeMutablePointer<Waiter>) {
    let next = waiter.pointee.next
    let previous = waiter.pointee.previous
    if let previous {
      previous.pointee.next = next
    } else {
      first = next
    }
    if let next {
      next.pointee.previous = previous
    } else {
      last = previous
    }
    waiter.pointee.isLinked = false
  }

  /// Takes the first party whose wait can still be ended, and claims it.
  ///
  /// Parties whose select was won elsewhere are dropped on the way: they take themselves off their
  /// other queues.
  @inlinable @inline(__always)
  package mutating func claimFirst() -> UnsafeMutablePointer<Waiter>? {
    while let waiter = first {
      remove(waiter)
      if waiter.claim() { return waiter }
    }
    return nil
  }

  /// The first party that is still waiting, not claimed and with its node left in place: for
  /// callers that only look.
  ///
  /// Parties lost to another clause are dropped on the way.
  @inlinable
  package mutating func firstLive() -> UnsafeMutablePointer<Waiter>? {
    while let waiter = first {
      guard let race = waiter.pointee.race else { return waiter }
      preemptionPoint(.claim, race)
      if race.pointee.winner.load(ordering: .acquiring) == -1 { return waiter }
      remove(waiter)
    }
    return nil
  }
}

// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Links that any thread pushes, and one takes all of at once: an inbox.
///
/// One load and one compare-and-swap to push; a Treiber stack, whose taker removes all at once and so has no ABA problem.
/// What is pushed here and looked for by one who has announced that it sleeps is seen, or the announcement is: both sides are
/// sequentially consistent.
@usableFromInline
package struct LinkStack: ~Copyable {
  /// The value of one that takes no more.
  private static var closed: UInt { 1 }

  /// The newest link's address; 0 when empty, 1 when closed.
  ///
  /// First field, which debuggers read.
  private let newest = Atomic<UInt>(0)

  /// Empty, and open.
  init() {}

  /// Something has been pushed that nobody has taken yet.
  @inline(__always)
  var hasMembers: Bool { newest.load(ordering: .sequentiallyConsistent) > Self.closed }

  /// Pushes a link.
  ///
  /// - Parameter link: Its memory stays in place until it has been taken.
  /// - Returns: False if the stack is closed.
  @inline(__always)
  func push(_ link: UnsafeMutablePointer<InboxLink>) -> Bool {
    var head = newest.load(ordering: .relaxed)
    while true {
      if head == Self.closed { return false }
      link.pointee.next = UnsafeMutablePointer<InboxLink>(bitPattern: head)
      let (exchanged, original) = newest.weakCompareExchange(
        expected: head,
        desired: UInt(bitPattern: link),
        successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed
      )
      if exchanged { return true }
      head = original
    }
  }

  /// Takes all links.
  ///
  /// - Returns: The oldest, which leads to the next one, and so on; nil if there is none.
  @inline(__always)
  func takeAll() -> UnsafeMutablePointer<InboxLink>? {
    guard newest.load(ordering: .relaxed) > Self.closed else { return nil }
    var oldest: UnsafeMutablePointer<InboxLink>?
    var rest = UnsafeMutablePointer<InboxLink>(
      bitPattern: newest.exchange(0, ordering: .acquiring)
    )
    while let link = rest {
      rest = link.pointee.next
      link.pointee.next = oldest
      oldest = link
    }
    return oldest
  }

  /// Closes it if it is empty.
  ///
  /// - Returns: False if something has been pushed.
  func close() -> Bool {
    newest.compareExchange(
      expected: 0,
      desired: Self.closed,
      ordering: .sequentiallyConsistent
    ).exchanged
  }

  /// Opens it, empty.
  func open() { newest.store(0, ordering: .sequentiallyConsistent) }
}

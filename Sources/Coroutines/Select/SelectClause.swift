// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// One clause of a `select`, whatever its kind; made by the builder from `Receive`, `Send`, `After`
/// and `Default`.
public struct SelectClause<Element, Result>: SelectClauses {
  @usableFromInline let kind: SelectEntry.Kind
  @usableFromInline let channel: Channel<Element>?
  /// What a `Send` sends; nil from `_prepare` on, so that the clause does not keep it.
  @usableFromInline var element: Element?
  @usableFromInline let delay: Duration
  /// What a `Receive` does with a value.
  @usableFromInline let receive: ((Element) throws -> Result)?
  /// What the others do; what a `Receive` does when its channel is closed.
  @usableFromInline let action: (() throws -> Result)?

  @inlinable @inline(__always)
  init(
    _ kind: SelectEntry.Kind,
    channel: Channel<Element>? = nil,
    element: Element? = nil,
    delay: Duration = .zero,
    receive: ((Element) throws -> Result)? = nil,
    action: (() throws -> Result)?
  ) {
    self.kind = kind
    self.channel = channel
    self.element = element
    self.delay = delay
    self.receive = receive
    self.action = action
  }

  /// Number of clauses; see `SelectClauses`.
  @inlinable @inline(__always)
  public var _count: Int { 1 }

  /// Bytes for the value, with room to align it, rounded up to 16.
  @inlinable @inline(__always)
  public var _slotSize: Int {
    if channel == nil { return 0 }
    let padding = MemoryLayout<Element>.alignment > 16 ? MemoryLayout<Element>.alignment : 0
    return (MemoryLayout<Element>.stride + padding + 15) & ~15
  }

  /// Fills in the entries and moves the values to send into their slots; see `SelectClauses`.
  ///
  /// - Parameters:
  ///   - entries: The entries of these clauses, not initialised.
  ///   - slots: Memory for their values, of `_slotSize` bytes.
  @inlinable @inline(__always)
  public mutating func _prepare(
    _ entries: UnsafeMutableRawPointer,
    _ slots: UnsafeMutableRawPointer
  ) {
    let slot = slots.alignedUp(toMultipleOf: MemoryLayout<Element>.alignment)
    entries.initializeMemory(
      as: SelectEntry.self,
      to: SelectEntry(kind, channel?.core, slot, delay: delay)
    )
    if let element = element.take() { slot.initializeMemory(as: Element.self, to: element) }
  }

  /// Releases what is in the slots of the clauses that have not won; see `SelectClauses`.
  ///
  /// - Parameters:
  ///   - entries: The entries of these clauses.
  ///   - winner: Index of the winner, counted from the first of them; may lie outside.
  @inlinable @inline(__always)
  public func _discardLosers(_ entries: UnsafeMutableRawPointer, _ winner: Int) {
    let entry = entries.assumingMemoryBound(to: SelectEntry.self)
    if kind == .send, winner != 0 || entry.pointee.isLeftOver { discard(entry) }
  }

  /// Does what the winner is to do; see `SelectClauses`.
  ///
  /// - Parameters:
  ///   - entries: The entries of these clauses.
  ///   - winner: Index of the winner, counted from the first of them.
  /// - Returns: What the winner's closure returns.
  /// - Throws: What it throws; `ChannelError.closed`.
  @inlinable @inline(__always)
  public func _finish(_ entries: UnsafeMutableRawPointer, _ winner: Int) throws -> Result {
    let entry = entries.assumingMemoryBound(to: SelectEntry.self)
    let isClosed = entry.pointee.waiter.outcome == .closed
    if let receive, !isClosed {
      // SAFETY: the clause has won with a value, which was moved into its slot.
      return try receive(entry.pointee.slot.assumingMemoryBound(to: Element.self).move())
    }
    if isClosed, kind == .send {
      discard(entry)
      throw ChannelError.closed
    }
    guard let action else { throw ChannelError.closed }
    return try action()
  }

  /// Releases what a sender has in its slot.
  @inlinable @inline(__always)
  func discard(_ entry: UnsafeMutablePointer<SelectEntry>) {
    // SAFETY: `_prepare` put a value there, and nobody took it.
    entry.pointee.slot.assumingMemoryBound(to: Element.self).deinitialize(count: 1)
  }
}

/// Collects the clauses of a `select`.
@resultBuilder
public enum SelectBuilder {
  /// A clause that receives.
  @inlinable @inline(__always)
  public static func buildExpression<Element, Result>(
    _ clause: Receive<Element, Result>
  ) -> SelectClause<Element, Result> {
    SelectClause(
      .receive,
      channel: clause.channel,
      receive: clause.action,
      action: clause.whenClosed
    )
  }

  /// A clause that sends.
  @inlinable @inline(__always)
  public static func buildExpression<Element, Result>(
    _ clause: Send<Element, Result>
  ) -> SelectClause<Element, Result> {
    SelectClause(.send, channel: clause.channel, element: clause.element, action: clause.action)
  }

  /// A clause that waits for time.
  @inlinable @inline(__always)
  public static func buildExpression<Result>(
    _ clause: After<Result>
  ) -> SelectClause<Never, Result> {
    SelectClause(.after, delay: clause.delay, action: clause.action)
  }

  /// A clause for when nothing else is ready.
  @inlinable @inline(__always)
  public static func buildExpression<Result>(
    _ clause: Default<Result>
  ) -> SelectClause<Never, Result> {
    SelectClause(.otherwise, action: clause.action)
  }

  /// The first clause.
  @inlinable @inline(__always)
  public static func buildPartialBlock<Element, Result>(
    first: SelectClause<Element, Result>
  ) -> SelectClause<Element, Result> {
    first
  }

  /// One more clause.
  @inlinable @inline(__always)
  public static func buildPartialBlock<Clauses: SelectClauses, Element>(
    accumulated: Clauses,
    next: SelectClause<Element, Clauses.Result>
  ) -> SelectList<Clauses, Element> {
    SelectList(clauses: accumulated, last: next)
  }
}

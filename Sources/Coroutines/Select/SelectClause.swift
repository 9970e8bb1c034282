// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// One clause of a `select`, whatever its kind; made by the builder from `Receive`, `Send`, `After`
/// and `Default`.
public struct SelectClause<Element, Result> {
  @usableFromInline let kind: SelectEntry.Kind
  @usableFromInline let channel: Channel<Element>?
  /// What a `Send` sends.
  @usableFromInline let element: Element?
  @usableFromInline let delay: Duration
  /// What a `Receive` does with a value.
  @usableFromInline let receive: ((Element) throws -> Result)?
  /// What the others do; what a `Receive` does when its channel is closed.
  @usableFromInline let action: (() throws -> Result)?

  @inlinable
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

  /// Bytes for the value, with room to align it, rounded up to 16.
  @inlinable
  var slotSize: Int {
    if channel == nil { return 0 }
    let padding = MemoryLayout<Element>.alignment > 16 ? MemoryLayout<Element>.alignment : 0
    return (MemoryLayout<Element>.stride + padding + 15) & ~15
  }

  /// Fills in the clause's entry and, if it sends, puts its value into the slot.
  @inlinable
  func prepare(_ entry: UnsafeMutablePointer<SelectEntry>, _ slot: UnsafeMutableRawPointer) {
    let slot = slot.alignedUp(toMultipleOf: MemoryLayout<Element>.alignment)
    entry.initialize(to: SelectEntry(kind, channel?.core, slot, delay: delay))
    if let element { slot.initializeMemory(as: Element.self, to: element) }
  }

  /// The clause has won: takes what is in the slot, if anything, and does its action.
  @inlinable
  func finish(_ entry: UnsafeMutablePointer<SelectEntry>) throws -> Result {
    let isClosed = entry.pointee.waiter.outcome == .closed
    if let receive, !isClosed {
      // SAFETY: the clause has won with a value, which was moved into its slot.
      return try receive(entry.pointee.slot.assumingMemoryBound(to: Element.self).move())
    }
    if isClosed, receive == nil {
      discard(entry)
      throw ChannelError.closed
    }
    guard let action else { throw ChannelError.closed }
    return try action()
  }

  /// Another clause has won, or the value was dropped: releases what a sender has in its slot.
  @inlinable
  func discard(_ entry: UnsafeMutablePointer<SelectEntry>) {
    guard kind == .send else { return }
    // SAFETY: `prepare` put a value there, and nobody took it.
    entry.pointee.slot.assumingMemoryBound(to: Element.self).deinitialize(count: 1)
  }
}

/// Collects the clauses of a `select`.
@resultBuilder
public enum SelectBuilder {
  /// A clause that receives.
  @inlinable
  public static func buildExpression<Element, Result>(
    _ clause: Receive<Element, Result>
  ) -> SelectClause<Element, Result> {
    SelectClause(
      .receive, channel: clause.channel, receive: clause.action, action: clause.whenClosed)
  }

  /// A clause that sends.
  @inlinable
  public static func buildExpression<Element, Result>(
    _ clause: Send<Element, Result>
  ) -> SelectClause<Element, Result> {
    SelectClause(.send, channel: clause.channel, element: clause.element, action: clause.action)
  }

  /// A clause that waits for time.
  @inlinable
  public static func buildExpression<Result>(
    _ clause: After<Result>
  ) -> SelectClause<Never, Result> {
    SelectClause(.after, delay: clause.delay, action: clause.action)
  }

  /// A clause for when nothing else is ready.
  @inlinable
  public static func buildExpression<Result>(
    _ clause: Default<Result>
  ) -> SelectClause<Never, Result> {
    SelectClause(.otherwise, action: clause.action)
  }

  /// The clauses in order.
  ///
  /// - Parameter clause: The clauses.
  @inlinable
  public static func buildBlock<each Element, Result>(
    _ clause: repeat SelectClause<each Element, Result>
  ) -> (repeat SelectClause<each Element, Result>) {
    (repeat each clause)
  }
}

/// Receives from a channel, in a `select`.
public struct Receive<Element, Result> {
  @usableFromInline let channel: Channel<Element>
  @usableFromInline let whenClosed: (() throws -> Result)?
  @usableFromInline let action: (Element) throws -> Result

  /// A clause that receives.
  ///
  /// - Parameters:
  ///   - channel: Where from.
  ///   - whenClosed: What to do if the channel is closed and empty; if left out, the select throws
  ///     `ChannelError.closed`.
  ///   - action: What to do with the value. Runs after the select is decided; may park.
  @inlinable
  public init(
    from channel: Channel<Element>,
    whenClosed: (() throws -> Result)? = nil,
    _ action: @escaping (Element) throws -> Result
  ) {
    self.channel = channel
    self.whenClosed = whenClosed
    self.action = action
  }

  /// A clause that receives.
  ///
  /// - Parameters:
  ///   - end: Where from.
  ///   - whenClosed: What to do if the channel is closed and empty.
  ///   - action: What to do with the value.
  @inlinable
  public init(
    from end: ReceiveEnd<Element>,
    whenClosed: (() throws -> Result)? = nil,
    _ action: @escaping (Element) throws -> Result
  ) {
    self.init(from: end.channel, whenClosed: whenClosed, action)
  }
}

/// Sends to a channel, in a `select`.
public struct Send<Element, Result> {
  @usableFromInline let element: Element
  @usableFromInline let channel: Channel<Element>
  @usableFromInline let action: () throws -> Result

  /// A clause that sends. If another clause wins, the value has not been sent.
  ///
  /// - Parameters:
  ///   - element: The value.
  ///   - channel: Where to. If it is closed, the select throws `ChannelError.closed`.
  ///   - action: What to do once it is sent. Runs after the select is decided; may park.
  @inlinable
  public init(
    _ element: Element,
    to channel: Channel<Element>,
    _ action: @escaping () throws -> Result
  ) {
    self.element = element
    self.channel = channel
    self.action = action
  }

  /// A clause that sends.
  ///
  /// - Parameters:
  ///   - element: The value.
  ///   - end: Where to.
  ///   - action: What to do once it is sent.
  @inlinable
  public init(
    _ element: Element,
    to end: SendEnd<Element>,
    _ action: @escaping () throws -> Result
  ) {
    self.init(element, to: end.channel, action)
  }
}

extension Send where Result == Void {
  /// A clause that sends and does nothing more.
  ///
  /// - Parameters:
  ///   - element: The value.
  ///   - channel: Where to.
  @inlinable
  public init(_ element: Element, to channel: Channel<Element>) {
    self.init(element, to: channel) {}
  }
}

/// Wins a `select` in which nothing else has happened for a time.
public struct After<Result> {
  @usableFromInline let delay: Duration
  @usableFromInline let action: () throws -> Result

  /// A clause that wins after a time.
  ///
  /// - Parameters:
  ///   - delay: How long, by the clock of the coroutine's scheduler. Zero or less: as `Default`.
  ///   - action: What to do then; may park.
  @inlinable
  public init(_ delay: Duration, _ action: @escaping () throws -> Result) {
    self.delay = delay
    self.action = action
  }
}

/// Wins a `select` in which nothing else can happen at once: such a select never parks.
public struct Default<Result> {
  @usableFromInline let action: () throws -> Result

  /// A clause that wins when no other is ready.
  ///
  /// - Parameter action: What to do then.
  @inlinable
  public init(_ action: @escaping () throws -> Result) {
    self.action = action
  }
}

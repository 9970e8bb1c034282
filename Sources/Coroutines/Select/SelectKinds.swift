// SPDX-License-Identifier: Apache-2.0

/// Receives from a channel, in a `select`.
public struct Receive<Element, Result>: ~Copyable {
  @usableFromInline var channel: SelectedChannel<Element>
  @usableFromInline let whenClosed: (() throws -> Result)?
  @usableFromInline let action: (Element) throws -> Result

  /// A clause that receives.
  ///
  /// - Parameters:
  ///   - channel: Where from.
  ///   - whenClosed: What to do if the channel is closed and empty; if left out, the select throws
  ///     `ChannelError.closed`.
  ///   - action: What to do with the value. Runs after the select is decided; may park.
  @inlinable @inline(__always)
  public init(
    from channel: borrowing Channel<Element>,
    whenClosed: (() throws -> Result)? = nil,
    _ action: @escaping (Element) throws -> Result
  ) {
    self.channel = SelectedChannel(channel)
    self.whenClosed = whenClosed
    self.action = action
  }

  /// A clause that receives.
  ///
  /// - Parameters:
  ///   - end: Where from.
  ///   - whenClosed: What to do if the channel is closed and empty.
  ///   - action: What to do with the value.
  @inlinable @inline(__always)
  public init(
    from end: borrowing ReceiveEnd<Element>,
    whenClosed: (() throws -> Result)? = nil,
    _ action: @escaping (Element) throws -> Result
  ) {
    self.channel = SelectedChannel(end.channel, end.right)
    self.whenClosed = whenClosed
    self.action = action
  }
}

/// Sends to a channel, in a `select`.
public struct Send<Element, Result>: ~Copyable {
  /// Nil from `_prepare` on, so that the clause does not keep it.
  @usableFromInline var element: Element?
  @usableFromInline var channel: SelectedChannel<Element>
  @usableFromInline let action: () throws -> Result

  /// A clause that sends.
  ///
  /// If another clause wins, the value has not been sent.
  ///
  /// - Parameters:
  ///   - element: The value.
  ///   - channel: Where to. If it is closed, the select throws `ChannelError.closed`.
  ///   - action: What to do once it is sent. Runs after the select is decided; may park.
  @inlinable @inline(__always)
  public init(
    _ element: Element,
    to channel: borrowing Channel<Element>,
    _ action: @escaping () throws -> Result
  ) {
    self.element = element
    self.channel = SelectedChannel(channel)
    self.action = action
  }

  /// A clause that sends.
  ///
  /// - Parameters:
  ///   - element: The value.
  ///   - end: Where to.
  ///   - action: What to do once it is sent.
  @inlinable @inline(__always)
  public init(
    _ element: Element,
    to end: borrowing SendEnd<Element>,
    _ action: @escaping () throws -> Result
  ) {
    self.element = element
    self.channel = SelectedChannel(end.channel, end.right)
    self.action = action
  }
}

extension Send where Result == Void {
  /// A clause that sends and does nothing more.
  ///
  /// - Parameters:
  ///   - element: The value.
  ///   - channel: Where to.
  @inlinable @inline(__always)
  public init(_ element: Element, to channel: borrowing Channel<Element>) {
    self.init(element, to: channel) {}
  }
}

/// Wins a `select` in which nothing else has happened for a time.
public struct After<Result>: ~Copyable {
  @usableFromInline let delay: Duration
  @usableFromInline let action: () throws -> Result

  /// A clause that wins after a time.
  ///
  /// - Parameters:
  ///   - delay: How long, by the clock of the coroutine's scheduler. Zero or less: it wins unless another
  ///     clause is ready at once.
  ///   - action: What to do then; may park.
  @inlinable @inline(__always)
  public init(_ delay: Duration, _ action: @escaping () throws -> Result) {
    self.delay = delay
    self.action = action
  }
}

/// Wins a `select` in which nothing else can happen at once: such a select never parks.
public struct Default<Result>: ~Copyable {
  @usableFromInline let action: () throws -> Result

  /// A clause that wins when no other is ready.
  ///
  /// - Parameter action: What to do then.
  @inlinable @inline(__always)
  public init(_ action: @escaping () throws -> Result) {
    self.action = action
  }
}

// SPDX-License-Identifier: Apache-2.0

/// The end of a channel that only sends: what a producer is given.
public struct SendEnd<Element>: Sendable {
  /// The channel.
  @usableFromInline let channel: Channel<Element>

  /// Sends a value; see `Channel.send(_:)`.
  ///
  /// - Parameter element: The value.
  /// - Throws: `ChannelError.closed`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync)
  public func send(_ element: sending Element) throws { try channel.send(element) }

  /// Sends a value that comes back if it is not delivered; see `Channel.send(_:onUndelivered:)`.
  ///
  /// - Parameters:
  ///   - element: The value.
  ///   - onUndelivered: Gets the value back before the error is thrown.
  /// - Throws: `ChannelError.closed`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync)
  public func send(
    _ element: sending Element,
    onUndelivered: (sending Element) -> Void
  ) throws {
    try channel.send(element, onUndelivered: onUndelivered)
  }

  /// Sends a value from a task; see the `async` form of `Channel.send(_:)`.
  ///
  /// - Parameter element: The value.
  /// - Throws: `ChannelError.closed`; `CancellationError`.
  public func send(_ element: sending Element) async throws { try await channel.send(element) }

  /// Sends a value if that needs no waiting; see `Channel.sendIfReady(_:)`.
  ///
  /// - Parameter element: The value.
  /// - Returns: `sent`, or the value back with the reason.
  @inlinable
  @discardableResult
  public func sendIfReady(_ element: sending Element) -> SendOutcome<Element> {
    channel.sendIfReady(element)
  }

  /// Closes the channel; see `Channel.close()`.
  public func close() { channel.close() }

  /// The channel has been closed: nothing more can be sent.
  public var isClosed: Bool { channel.isClosed }

  /// Number of values kept now.
  public var count: Int { channel.count }
}

/// The end of a channel that only receives: what a consumer is given.
public struct ReceiveEnd<Element>: Sendable, Sequence {
  /// The channel.
  @usableFromInline let channel: Channel<Element>

  /// Receives a value; see `Channel.receive()`.
  ///
  /// - Returns: The oldest value.
  /// - Throws: `ChannelError.closed`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync)
  public func receive() throws -> Element { try channel.receive() }

  /// Receives a value in a task; see the `async` form of `Channel.receive()`.
  ///
  /// - Returns: The oldest value.
  /// - Throws: `ChannelError.closed` once the channel is closed and empty; `CancellationError`.
  public func receive() async throws -> sending Element { try await channel.receive() }

  /// Receives a value if there is one; see `Channel.receiveIfReady()`.
  ///
  /// - Returns: The oldest value, or why there is none.
  @inlinable
  public func receiveIfReady() -> ReceiveOutcome<Element> { channel.receiveIfReady() }

  /// Receives one value, and then all others that are there; see `Channel.receiveAll()`.
  ///
  /// - Returns: One value or more, in order.
  /// - Throws: As `receive`.
  @available(*, noasync)
  public func receiveAll() throws -> [Element] { try channel.receiveAll() }

  /// Receives so many values, waiting for each; see `Channel.receive(count:)`.
  ///
  /// - Parameter count: Zero (parks for nothing) or more.
  /// - Returns: Exactly `count` values, in order.
  /// - Throws: As `receive` if there was no value yet, else `PartialReceiveError`.
  @available(*, noasync)
  public func receive(count: Int) throws -> [Element] { try channel.receive(count: count) }

  /// An iterator that receives; see `Channel.makeIterator()`.
  @inlinable
  public func makeIterator() -> Channel<Element>.Iterator { channel.makeIterator() }

  /// The values as an asynchronous sequence; see `Channel.values`.
  public var values: ChannelValues<Element> { channel.values }

  /// The channel has been closed; there may still be values to receive.
  public var isClosed: Bool { channel.isClosed }

  /// Number of values kept now.
  public var count: Int { channel.count }

  /// No value is kept now; a sender may be waiting all the same.
  public var isEmpty: Bool { channel.isEmpty }
}

extension Channel {
  /// The end that only sends.
  public var sendEnd: SendEnd<Element> { SendEnd(channel: self) }

  /// The end that only receives.
  public var receiveEnd: ReceiveEnd<Element> { ReceiveEnd(channel: self) }
}

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

  /// Receives a value if there is one; see `Channel.receiveIfReady()`.
  ///
  /// - Returns: The oldest value, or why there is none.
  @inlinable
  public func receiveIfReady() -> ReceiveOutcome<Element> { channel.receiveIfReady() }

  /// An iterator that receives; see `Channel.makeIterator()`.
  @inlinable
  public func makeIterator() -> Channel<Element>.Iterator { channel.makeIterator() }

  /// The values as an asynchronous sequence; see `Channel.values`.
  public var values: ChannelValues<Element> { channel.values }
}

extension Channel {
  /// The end that only sends.
  public var sendEnd: SendEnd<Element> { SendEnd(channel: self) }

  /// The end that only receives.
  public var receiveEnd: ReceiveEnd<Element> { ReceiveEnd(channel: self) }
}

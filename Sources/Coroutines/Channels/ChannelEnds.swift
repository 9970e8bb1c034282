// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Closes its channel when the last reference to it goes: what the ends of `makeEnds` share.
@usableFromInline
final class ChannelRight<Element>: Sendable {
  enum Side { case send, receive }

  private let channel: Channel<Element>
  private let side: Side

  /// The right of one side of a channel that nobody else knows yet: its lock is not needed.
  init(_ channel: Channel<Element>, _ side: Side) {
    self.channel = channel
    self.side = side
    let right = Unmanaged.passUnretained(self).toOpaque()
    switch side {
    case .send: channel.core.pointee.rights.send = right
    case .receive: channel.core.pointee.rights.receive = right
    }
  }

  deinit {
    let core = channel.core
    core.lock.withLock {
      switch side {
      case .send: core.pointee.rights.send = nil
      case .receive: core.pointee.rights.receive = nil
      }
    }
    channel.close()
  }
}

/// The end of a channel that only sends: what a producer is given.
public struct SendEnd<Element>: Sendable {
  /// The channel.
  @usableFromInline let channel: Channel<Element>
  /// Closes the channel with the last of the ends that share it; ends of a `Channel` that is in hand have none.
  @usableFromInline let right: ChannelRight<Element>?

  /// Sends a value; see `Channel.send(_:)`.
  ///
  /// - Parameter element: The value.
  /// - Throws: `ChannelError.closed`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable @inline(__always)
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func send(_ element: sending Element) throws {
    // It counts as there while it waits, even if this is its last use.
    defer { withExtendedLifetime(right) {} }
    try channel.send(element)
  }

  /// Sends a value that comes back if it is not delivered; see `Channel.send(_:onUndelivered:)`.
  ///
  /// - Parameters:
  ///   - element: The value.
  ///   - onUndelivered: Gets the value back before the error is thrown.
  /// - Throws: `ChannelError.closed`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func send(
    _ element: sending Element,
    onUndelivered: (sending Element) -> Void
  ) throws {
    defer { withExtendedLifetime(right) {} }
    try channel.send(element, onUndelivered: onUndelivered)
  }

  /// Sends a value from a task; see the `async` form of `Channel.send(_:)`.
  ///
  /// - Parameter element: The value.
  /// - Throws: `ChannelError.closed`; `CancellationError`.
  public func send(_ element: sending Element) async throws {
    // It counts as there while it waits, even if this is its last use.
    defer { withExtendedLifetime(right) {} }
    try await channel.send(element)
  }

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
  /// As for a `SendEnd`.
  @usableFromInline let right: ChannelRight<Element>?

  /// Receives a value; see `Channel.receive()`.
  ///
  /// - Returns: The oldest value.
  /// - Throws: `ChannelError.closed`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable @inline(__always)
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func receive() throws -> Element {
    // It counts as there while it waits, even if this is its last use.
    defer { withExtendedLifetime(right) {} }
    return try channel.receive()
  }

  /// Receives a value in a task; see the `async` form of `Channel.receive()`.
  ///
  /// - Returns: The oldest value.
  /// - Throws: `ChannelError.closed` once the channel is closed and empty; `CancellationError`.
  public func receive() async throws -> sending Element {
    // It counts as there while it waits, even if this is its last use.
    defer { withExtendedLifetime(right) {} }
    return try await channel.receive()
  }

  /// Receives a value if there is one; see `Channel.receiveIfReady()`.
  ///
  /// - Returns: The oldest value, or why there is none.
  @inlinable
  public func receiveIfReady() -> ReceiveOutcome<Element> { channel.receiveIfReady() }

  /// Receives one value, and then all others that are there; see `Channel.receiveAll()`.
  ///
  /// - Returns: One value or more, in order.
  /// - Throws: As `receive`.
  @inlinable
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func receiveAll() throws -> [Element] {
    // It counts as there while it waits, even if this is its last use.
    defer { withExtendedLifetime(right) {} }
    return try channel.receiveAll()
  }

  /// Receives so many values, waiting for each; see `Channel.receive(count:)`.
  ///
  /// - Parameter count: Zero (parks for nothing) or more.
  /// - Returns: Exactly `count` values, in order.
  /// - Throws: As `receive` if there was no value yet, else `PartialReceiveError`.
  @inlinable
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func receive(count: Int) throws -> [Element] {
    // It counts as there while it waits, even if this is its last use.
    defer { withExtendedLifetime(right) {} }
    return try channel.receive(count: count)
  }

  /// An iterator that receives; see `Channel.makeIterator()`.
  @inlinable
  public func makeIterator() -> Channel<Element>.Iterator { Channel.Iterator(channel, right) }

  /// The values as an asynchronous sequence; see `Channel.values`.
  public var values: ChannelValues<Element> { ChannelValues(channel, right) }

  /// The channel has been closed; there may still be values to receive.
  public var isClosed: Bool { channel.isClosed }

  /// Number of values kept now.
  public var count: Int { channel.count }

  /// No value is kept now; a sender may be waiting all the same.
  public var isEmpty: Bool { channel.isEmpty }
}

extension Channel {
  /// The end that only sends.
  public var sendEnd: SendEnd<Element> { SendEnd(channel: self, right: nil) }

  /// The end that only receives.
  public var receiveEnd: ReceiveEnd<Element> { ReceiveEnd(channel: self, right: nil) }

  /// A channel that is known by its two ends only, and closed when nobody is left at one of them.
  ///
  /// When the last copy of the end that sends is gone, the channel is closed: receivers get what is kept, and then
  /// find it closed, instead of waiting for ever. When the last copy of the end that receives is gone, senders find
  /// it closed. A producer that fails, or forgets `close()`, hangs nobody.
  ///
  /// ```swift
  /// func squares() -> ReceiveEnd<Int> {
  ///   let (results, squares) = Channel<Int>.makeEnds(capacity: 8)
  ///   for part in 1...3 { launch { try results.send(part * part) } }
  ///   return squares
  /// }
  /// ```
  ///
  /// A copy that is kept keeps the channel open, and a variable keeps one until its scope is left: a loop over
  /// `squares` in the scope of `results` would never end. The form with a closure leaves no such variable.
  ///
  /// - Parameters:
  ///   - capacity: What it keeps; `rendezvous` if left out.
  ///   - name: For dumps and reports of deadlocks.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  /// - Returns: Its ends.
  public static func makeEnds(
    capacity: ChannelCapacity = .rendezvous,
    name: String? = nil,
    file: StaticString = #fileID,
    line: UInt = #line
  ) -> (sendEnd: SendEnd<Element>, receiveEnd: ReceiveEnd<Element>) {
    let channel = Channel(capacity: capacity, name: name, file: file, line: line)
    return (
      SendEnd(channel: channel, right: ChannelRight(channel, .send)),
      ReceiveEnd(channel: channel, right: ChannelRight(channel, .receive))
    )
  }

  /// The same, for a producer that is started at once: nobody is left with its end by mistake.
  ///
  /// ```swift
  /// let squares = Channel<Int>.makeEnds(capacity: 8) { results in
  ///   for part in 1...3 { launch { try results.send(part * part) } }
  /// }
  /// for square in squares { print(square) }
  /// ```
  ///
  /// - Parameters:
  ///   - capacity: What it keeps; `rendezvous` if left out.
  ///   - name: For dumps and reports of deadlocks.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - handOver: Called at once; gives the end that sends to those who will.
  /// - Returns: The end that receives.
  /// - Throws: What `handOver` throws.
  public static func makeEnds(
    capacity: ChannelCapacity = .rendezvous,
    name: String? = nil,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ handOver: (SendEnd<Element>) throws -> Void
  ) rethrows -> ReceiveEnd<Element> {
    let ends = makeEnds(capacity: capacity, name: name, file: file, line: line)
    try handOver(ends.sendEnd)
    return ends.receiveEnd
  }
}

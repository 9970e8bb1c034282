// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import CoroutineKernel
import Coroutines

/// Sends and receives datagrams: UDP, or those of Unix-domain sockets.
///
/// ```swift
/// let socket = try DatagramSocket(on: .loopback(port: 0))
/// let question = try socket.receive()
/// if let sender = question.sender { try socket.send("answer".utf8, to: sender) }
/// ```
///
/// A datagram arrives whole or not at all; UDP may lose, double and reorder them, Unix-domain sockets do not. Any
/// number of coroutines may send and receive at a time: each datagram goes to one of them. `close` may be called
/// from anywhere: who waits gets an `IOError` with `EBADF`.
///
/// *Cancellation:* ends every wait; no datagram is lost by it, and none is sent.
///
/// Cost: a call of the system for each datagram, and one more for each wait's first look.
public final class DatagramSocket: Sendable {
  private let descriptor: OwnedDescriptor
  private let limit = IdleLimit()

  /// Where it receives; with the port that the system chose, if 0 was asked for.
  public let address: SocketAddress

  /// Binds a socket: it receives what is sent to the address.
  ///
  /// Does not park.
  ///
  /// - Parameters:
  ///   - address: Where; port 0 for any that is free. A path must not exist; an empty one makes a Unix-domain
  ///     socket that sends only.
  ///   - reusesPort: Other sockets may have the same port; datagrams are spread among them.
  ///   - allowsBroadcast: Datagrams may be sent to broadcast addresses.
  /// - Throws: `IOError`, with `EADDRINUSE` if somebody else has the address.
  public init(
    on address: SocketAddress,
    reusesPort: Bool = false,
    allowsBroadcast: Bool = false
  ) throws {
    let operation = "receiving on"
    let subject = address.description
    var system = try address.systemAddress()
    let number = Int32(try IOError.check(cio_socket(address.family, 1), operation, subject))
    descriptor = OwnedDescriptor(takingOver: number)
    if allowsBroadcast { try IOError.check(cio_set_broadcast(number), operation, subject) }
    if address != .unix(path: "") {
      let result = cio_bind_datagrams(number, &system, reusesPort ? 1 : 0)
      try IOError.check(result, operation, subject)
    }
    try IOError.check(cio_local_address(number, &system), operation, subject)
    self.address = SocketAddress(system) ?? address
  }

  /// Where the socket goes to with datagrams that name no receiver; it receives from nobody else then.
  ///
  /// Does not park: nothing is sent by it. May be called again, for another one.
  ///
  /// - Parameter peer: The other end.
  /// - Throws: `IOError`.
  public func connect(to peer: SocketAddress) throws {
    var system = try peer.systemAddress()
    try IOError.check(descriptor.use { cio_connect($0, &system) }, "connecting to", "\(peer)")
  }

  /// How long a wait may take; nil, as it is at first, for ever.
  ///
  /// Then it throws an `IOError` with `ETIMEDOUT`.
  public var idleTimeout: Duration? {
    get { limit.nanoseconds.map { .nanoseconds($0) } }
    set { limit.nanoseconds = newValue?.saturatedNanoseconds }
  }

  // MARK: - Receiving

  /// Receives a datagram into memory of the caller's; parks until there is one.
  ///
  /// *Cancellation:* ends the wait; nothing has been received.
  ///
  /// - Parameter buffer: Where to put it. What does not fit is lost.
  /// - Returns: How many bytes were put there (0 for an empty datagram), who sent it, and whether it was cut.
  /// - Throws: `IOError`: if it is connected, with `ECONNREFUSED` when an earlier datagram found nobody there;
  ///   `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func receive(
    into buffer: UnsafeMutableRawBufferPointer
  ) throws -> (count: Int, sender: SocketAddress?, isCut: Bool) {
    while true {
      let seen = descriptor.edges(.reading)
      var sender = cio_address()
      var isCut: Int32 = 0
      let result = descriptor.use {
        cio_receive_from($0, buffer.baseAddress, buffer.count, &sender, &isCut)
      }
      if result >= 0 { return (result, SocketAddress(sender), isCut != 0) }
      if result == -Int(cio_would_block) {
        try wait(.reading, seen, limitEnd, "DatagramSocket.receive", "receiving on", address)
      } else if result != -Int(cio_interrupted) {
        try IOError.check(result, "receiving on", "\(address)")
      }
    }
  }

  /// Receives a datagram; parks until there is one.
  ///
  /// *Cancellation:* ends the wait; nothing has been received.
  ///
  /// - Parameter count: What is longer is cut. Nothing that UDP carries is longer than it is if left out.
  /// - Returns: The datagram.
  /// - Throws: As the other form.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func receive(upTo count: Int = 1 << 16) throws -> Datagram {
    demand(count >= 0, "DatagramSocket.receive(upTo: \(count)): it must be 0 or more.")
    var outcome: Result<(count: Int, sender: SocketAddress?, isCut: Bool), any Error>?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, received in
      let result = Result { try receive(into: UnsafeMutableRawBufferPointer(buffer)) }
      received = (try? result.get().count) ?? 0
      outcome = result
    }
    guard let received = try outcome?.get() else {
      fatalError("an array was made without its body")
    }
    return Datagram(bytes: bytes, sender: received.sender, isCut: received.isCut)
  }

  // MARK: - Sending

  /// Sends a datagram; parks while the system has no room for it.
  ///
  /// *Cancellation:* ends the wait; nothing has been sent.
  ///
  /// - Parameters:
  ///   - bytes: All of it.
  ///   - receiver: Who is to get it; nil for whom the socket is connected to.
  /// - Throws: `IOError`: with `EMSGSIZE` if it is too long for one datagram, `EDESTADDRREQ` (`ENOTCONN` for
  ///   Unix-domain sockets) without a receiver, `EACCES` for a broadcast that was not allowed; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func send(_ bytes: UnsafeRawBufferPointer, to receiver: SocketAddress? = nil) throws {
    var target = try receiver?.systemAddress() ?? cio_address()
    let isAddressed = receiver != nil
    let operation = receiver == nil ? "sending from" : "sending to"
    let subject = receiver ?? address
    let end = limitEnd
    var pause: Int64 = 1_000_000
    while true {
      let seen = descriptor.edges(.writing)
      let result = descriptor.use { number in
        isAddressed
          ? cio_send_to(number, bytes.baseAddress, bytes.count, &target)
          : cio_send_to(number, bytes.baseAddress, bytes.count, nil)
      }
      if result >= 0 { return }
      if result == -Int(cio_would_block) {
        // A full receiver of the same machine, to which the socket is not connected, is seen by trying only.
        let next: Int64? = if case .unix? = receiver { clockNow() + pause } else { nil }
        pause = min(pause * 2, 20_000_000)
        try wait(.writing, seen, end, "DatagramSocket.send", operation, subject, lookAt: next)
      } else if result != -Int(cio_interrupted) {
        try IOError.check(result, operation, "\(subject)")
      }
    }
  }

  /// Sends a datagram; parks while the system has no room for it.
  ///
  /// *Cancellation:* ends the wait; nothing has been sent.
  ///
  /// - Parameters:
  ///   - bytes: All of it.
  ///   - receiver: Who is to get it; nil for whom the socket is connected to.
  /// - Throws: As the other form.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func send(_ bytes: some Sequence<UInt8>, to receiver: SocketAddress? = nil) throws {
    let done: Void? = try bytes.withContiguousStorageIfAvailable {
      try send(UnsafeRawBufferPointer($0), to: receiver)
    }
    if done == nil { try Array(bytes).withUnsafeBytes { try send($0, to: receiver) } }
  }

  // MARK: - Ending

  /// Closes it; whoever waits for it gets an `IOError` with `EBADF`.
  ///
  /// No effect the second time. It closes by itself when nobody has it any more; a path stays in the file system.
  public func close() { descriptor.close() }

  /// It has been closed here.
  public var isClosed: Bool { descriptor.isClosed }

  // MARK: - Inside

  private var limitEnd: Int64? {
    limit.nanoseconds.map { clockNow().addingReportingOverflow($0) }
      .map { $0.overflow ? .max : $0.partialValue }
  }

  /// `lookAt` is when to try again though nothing has told of room.
  private func wait(
    _ direction: DescriptorDirection,
    _ seen: UInt32,
    _ end: Int64?,
    _ operation: StaticString,
    _ words: String,
    _ subject: SocketAddress,
    lookAt next: Int64? = nil
  ) throws {
    let deadline = [end, next].compactMap { $0 }.min()
    let code: Int32
    switch try descriptor.wait(for: direction, since: seen, deadline: deadline, operation) {
    case .ready: return
    case .timedOut where deadline != end: return
    case .timedOut: code = cio_timed_out
    case .closed: code = cio_bad_descriptor
    case .failed(let reason): code = reason
    }
    throw descriptor.error(code, words, subject.description)
  }
}

/// A datagram that was received.
public struct Datagram: Hashable, Sendable {
  /// What it carries.
  public let bytes: [UInt8]
  /// Who sent it; nil for a Unix-domain socket without a path.
  public let sender: SocketAddress?
  /// It was longer than there was room for; the rest is lost.
  public let isCut: Bool

  /// A datagram.
  public init(bytes: [UInt8], sender: SocketAddress?, isCut: Bool = false) {
    self.bytes = bytes
    self.sender = sender
    self.isCut = isCut
  }
}

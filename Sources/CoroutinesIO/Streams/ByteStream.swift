// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import CoroutineKernel
import Coroutines

/// Bytes that come and go in order: a connection of a socket, an end of a pipe, a terminal.
///
/// ```swift
/// let stream = try ByteStream.connect(to: .loopback(port: 7))
/// try stream.write("hello")
/// let answer = try stream.read(exactly: 5)
/// stream.close()
/// ```
///
/// A call that would block parks its coroutine; others go on. One coroutine may read while another writes; of
/// two that do the same at a time each gets, or gives, a part. `close` may be called from anywhere: who waits
/// gets an `IOError` with `EBADF`.
///
/// *Cancellation:* ends every wait. What has been read was returned by earlier calls; of a `write` a part may have
/// been written.
///
/// Cost: a call of the system for each read and each write that finds something to do; the event loop's own
/// call is shared by all that wait. No allocation but for the arrays that are returned.
public final class ByteStream: Sendable {
  let descriptor: OwnedDescriptor
  private let isSocket: Bool
  /// A read of less than was asked for has taken all.
  private let drains: Bool
  private let reading = DrainMark()
  private let limit = IdleLimit()

  /// The other end, if it has an address.
  public let peer: SocketAddress?

  init(
    _ descriptor: OwnedDescriptor,
    isSocket: Bool,
    peer: SocketAddress?,
    drains: Bool = true
  ) {
    self.descriptor = descriptor
    self.isSocket = isSocket
    self.drains = drains
    self.peer = peer
  }

  /// Takes over an open descriptor, and closes it in the end.
  ///
  /// It does not block from now on, which everybody sees who shares the open file (as `dup` and `fork` do).
  ///
  /// - Parameter descriptor: A socket, a pipe or a terminal.
  /// - Throws: `IOError` if it is not open.
  public convenience init(takingOver descriptor: Int32) throws {
    let isSocket = cio_is_socket(descriptor)
    if isSocket < 0 { throw IOError(code: Int32(-isSocket), operation: "taking over a descriptor") }
    try IOError.check(cio_set_nonblocking(descriptor), "taking over a descriptor")
    var address = cio_address()
    let hasPeer = isSocket == 1 && cio_peer_address(descriptor, &address) >= 0
    self.init(
      OwnedDescriptor(takingOver: descriptor),
      isSocket: isSocket == 1,
      peer: hasPeer ? SocketAddress(address) : nil,
      drains: cio_short_read_is_all(descriptor) == 1
    )
  }

  /// How long a read or a write may wait until something moves; nil, as it is at first, for ever.
  ///
  /// Then it throws an `IOError` with `ETIMEDOUT`. For a limit on more than one call see `withTimeout`.
  public var idleTimeout: Duration? {
    get { limit.nanoseconds.map { .nanoseconds($0) } }
    set { limit.nanoseconds = newValue?.saturatedNanoseconds }
  }

  // MARK: - Reading

  /// Reads what there is, and waits only if there is nothing.
  ///
  /// *Cancellation:* nothing has been read.
  ///
  /// - Parameter buffer: Where to put it; not empty.
  /// - Returns: How many bytes; 0 when there will be no more.
  /// - Throws: `IOError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    demand(
      buffer.count > 0,
      "ByteStream.read(into:): the buffer is empty; it must have room for 1 byte or more."
    )
    while true {
      let seen = try waitToRead()
      if let count = try readNow(into: buffer, since: seen) { return count }
    }
  }

  /// Waits for an edge if all of the last one has been read; else there may be something.
  ///
  /// Returns the edges before the call that it is for.
  @inline(__always)
  private func waitToRead() throws -> UInt32 {
    let seen = descriptor.edges(.reading)
    guard reading.isDrained(at: seen) else { return seen }
    try wait(.reading, since: seen, "ByteStream.read", "reading from")
    reading.note(nil)
    return descriptor.edges(.reading)
  }

  /// Reads what there is; nil if there is nothing.
  @inline(__always)
  private func readNow(into buffer: UnsafeMutableRawBufferPointer, since seen: UInt32) throws
    -> Int?
  {
    let result = descriptor.use { number in
      isSocket
        ? cio_receive(number, buffer.baseAddress, buffer.count)
        : cio_read(number, buffer.baseAddress, buffer.count)
    }
    if result >= 0 {
      // Less than there was room for means that there is no more, and that an edge will tell of more. Not at the
      // end of the stream, whose edge may be the one that has been seen.
      let isAll = drains && result < buffer.count && result > 0 && !descriptor.hasHungUp
      reading.note(isAll ? seen : nil)
      return result
    }
    if result == -Int(cio_would_block) {
      reading.note(seen)
    } else if result != -Int(cio_interrupted) {
      throw failure(result, "reading from")
    }
    return nil
  }

  /// Reads what there is, and waits only if there is nothing.
  ///
  /// *Cancellation:* nothing has been read.
  ///
  /// - Parameter count: At most so many bytes.
  /// - Returns: The bytes; none when there will be no more.
  /// - Throws: `IOError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func read(upTo count: Int = 1 << 14) throws -> [UInt8] {
    demand(count > 0, "ByteStream.read(upTo: \(count)): it must be 1 or more.")
    while true {
      // While it waits it holds no room.
      let seen = try waitToRead()
      var failure: (any Error)?
      var isOver = false
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
        do {
          let now = try readNow(into: UnsafeMutableRawBufferPointer(buffer), since: seen)
          isOver = now != nil
          read = now ?? 0
        } catch {
          failure = error
        }
      }
      if let failure { throw failure }
      if isOver { return bytes }
    }
  }

  /// Reads so many bytes.
  ///
  /// *Cancellation:* what has come so far is lost.
  ///
  /// - Parameter count: How many.
  /// - Returns: The bytes.
  /// - Throws: `StreamEndedError` if there are fewer; `IOError`; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func read(exactly count: Int) throws -> [UInt8] {
    demand(count >= 0, "ByteStream.read(exactly: \(count)): it must be 0 or more.")
    var failure: (any Error)?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
      do {
        while read < count {
          let more = try self.read(
            into: UnsafeMutableRawBufferPointer(
              rebasing: UnsafeMutableRawBufferPointer(buffer)[read...]
            )
          )
          if more == 0 { throw StreamEndedError(expected: count, received: read) }
          read += more
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Reads until there will be no more.
  ///
  /// *Cancellation:* what has come so far is lost.
  ///
  /// - Parameter limit: The most that is kept; more is an `IOError` with `EMSGSIZE`, so that nobody can fill
  ///   the memory from outside.
  /// - Returns: The bytes.
  /// - Throws: `IOError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func readToEnd(limit: Int = 1 << 26) throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let more = try read()
      if more.isEmpty { return all }
      if all.count + more.count > limit { throw failure(-Int(cio_too_long), "reading from") }
      all += more
    }
  }

  // MARK: - Writing

  /// Writes all of it; parks while the other end does not keep up.
  ///
  /// *Cancellation:* ends the wait; a part may have been written.
  ///
  /// - Parameter bytes: What to write.
  /// - Throws: `IOError`, with `EPIPE` if nobody reads any more; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let seen = descriptor.edges(.writing)
      let result = writeNow(UnsafeRawBufferPointer(rebasing: rest))
      if result >= 0 {
        rest = rest.dropFirst(result)
      } else if result == -Int(cio_would_block) {
        try wait(.writing, since: seen, "ByteStream.write", "writing to")
      } else if result != -Int(cio_interrupted) {
        throw failure(result, "writing to")
      }
    }
  }

  /// Writes all of it; parks while the other end does not keep up.
  ///
  /// *Cancellation:* ends the wait; a part may have been written.
  ///
  /// - Parameter bytes: What to write.
  /// - Throws: As the other form.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func write(_ bytes: some Sequence<UInt8>) throws {
    // Arrays lie in one piece; a park inside is fine, since the array is held for the call.
    let done: Void? = try bytes.withContiguousStorageIfAvailable {
      try write(UnsafeRawBufferPointer($0))
    }
    if done == nil { try Array(bytes).withUnsafeBytes { try write($0) } }
  }

  /// Writes a text, in UTF-8.
  ///
  /// *Cancellation:* ends the wait; a part may have been written.
  ///
  /// - Parameter text: What to write.
  /// - Throws: As the other forms.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func write(_ text: String) throws { try write(text.utf8) }

  /// Writes as much as the system takes now, and does not wait.
  ///
  /// For bytes in memory that others use as well: they need be copied only if not all of them are written.
  ///
  /// - Parameter bytes: What to write.
  /// - Returns: How many of them have been written.
  /// - Throws: `IOError`, with `EPIPE` if nobody reads any more.
  public func writeIfReady(_ bytes: UnsafeRawBufferPointer) throws -> Int {
    let result = writeNow(bytes)
    if result >= 0 { return result }
    if result == -Int(cio_would_block) || result == -Int(cio_interrupted) { return 0 }
    throw failure(result, "writing to")
  }

  @inline(__always)
  private func writeNow(_ bytes: UnsafeRawBufferPointer) -> Int {
    descriptor.use { number in
      isSocket
        ? cio_send(number, bytes.baseAddress, bytes.count)
        : cio_write(number, bytes.baseAddress, bytes.count)
    }
  }

  // MARK: - Ending

  /// Says that no more will be written; the other end finds the end after what it has been sent.
  ///
  /// Reading goes on.
  ///
  /// For sockets. An end of a pipe has one direction: `close` it.
  ///
  /// - Throws: `IOError`, with `ENOTCONN` if the other end is gone, `ENOTSOCK` if it is no socket.
  public func finishWriting() throws {
    let result = descriptor.use { cio_shut_down_writing($0) }
    if result < 0 { throw failure(result, "finishing") }
  }

  /// Closes it; whoever waits for it gets an `IOError` with `EBADF`.
  ///
  /// No effect the second time. It closes by itself when nobody has it any more.
  public func close() { descriptor.close() }

  /// Closes a connection so that the other end gets an error (`ECONNRESET`) instead of an end.
  public func reset() {
    _ = descriptor.use { cio_set_reset_on_close($0) }
    close()
  }

  /// It has been closed here.
  public var isClosed: Bool { descriptor.isClosed }

  // MARK: - Inside

  @inline(__always)
  private func wait(
    _ direction: DescriptorDirection,
    since seen: UInt32,
    _ operation: StaticString,
    _ words: String
  ) throws {
    let deadline = limit.nanoseconds.map { clockNow().addingReportingOverflow($0).partialValue }
    switch try descriptor.wait(for: direction, since: seen, deadline: deadline, operation) {
    case .ready: return
    case .closed: throw failure(-Int(cio_bad_descriptor), words)
    case .timedOut: throw failure(-Int(cio_timed_out), words)
    case .failed(let code): throw failure(-Int(code), words)
    }
  }

  private func failure(_ result: Int, _ operation: String) -> IOError {
    descriptor.error(Int32(-result), operation, peer?.description ?? "a stream")
  }
}

/// A stream ended before it had given as much as was needed.
public struct StreamEndedError: Error, Hashable, Sendable, CustomStringConvertible {
  /// How many bytes were needed.
  public let expected: Int
  /// How many came.
  public let received: Int

  /// An error.
  public init(expected: Int, received: Int) {
    self.expected = expected
    self.received = received
  }

  /// One line for people.
  public var description: String {
    "the stream ended after \(received) of \(expected) bytes. The other end closed it early, or less was to be "
      + "expected: `read(upTo:)` takes what there is."
  }
}

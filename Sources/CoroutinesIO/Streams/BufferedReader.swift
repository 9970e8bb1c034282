// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import CoroutineKernel
public import Coroutines

/// Reads a stream in pieces that make sense: lines, fields, messages of a known length.
///
/// ```swift
/// let reader = BufferedReader(stream)
/// while let line = try reader.readLine(limit: 8192) { print(line) }
/// ```
///
/// It takes from the stream what there is and keeps what has not been asked for; so read the stream through it
/// alone, in one coroutine at a time. Each call has a limit, and what it keeps is never more than that and one
/// `capacity`: nobody can fill the memory from outside.
///
/// *Cancellation:* and errors end the wait and lose nothing: what has come so far is kept for the next call.
///
/// Cost: a call of the stream for each `capacity` bytes, if they come that fast; no memory while it waits with nothing
/// kept.
public final class BufferedReader {
  /// Where it reads.
  public let stream: ByteStream

  private let capacity: Int
  /// What has been read; what lies before `head` has been given out.
  private var kept: [UInt8] = []
  private var head = 0

  /// A reader.
  ///
  /// - Parameters:
  ///   - stream: Where to read; stays the caller's, who closes it.
  ///   - capacity: Most bytes to read at a time.
  public init(_ stream: ByteStream, capacity: Int = 1 << 14) {
    demand(capacity > 0, "A BufferedReader of capacity \(capacity); it must be 1 or more.")
    self.stream = stream
    self.capacity = capacity
  }

  /// How many bytes have been read from the stream and not been asked for.
  public var bufferedCount: Int { kept.count - head }

  // MARK: - Lines

  /// Reads a line, without its end (`\n` or `\r\n`); parks until it is complete.
  ///
  /// Bytes that are not UTF-8 are replaced.
  ///
  /// - Parameter limit: Most bytes that the line may have, without its end.
  /// - Returns: The line; what comes after the last end, if the stream ends there; nil when there is no more.
  /// - Throws: `IOError`: with `EMSGSIZE` if the line is longer (all of it is kept, and may be read in another
  ///   way); those of the stream; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func readLine(limit: Int = 1 << 16) throws -> String? {
    demand(
      limit >= 0 && limit < .max - 1,
      "BufferedReader.readLine(limit: \(limit)): it must be 0 or more, and less than Int.max - 1."
    )
    // One more, for the carriage return.
    let (found, isEnd) = try find([UInt8(ascii: "\n")], limit: limit + 1)
    if isEnd, found == 0 { return nil }
    var length = found
    if !isEnd, length > 0, kept[head + length - 1] == UInt8(ascii: "\r") { length -= 1 }
    if length > limit { throw tooLong }
    let line = String(decoding: kept[head..<head + length], as: UTF8.self)
    give(found + (isEnd ? 0 : 1))
    return line
  }

  /// The lines that are still to be read, one after the other.
  ///
  /// Asking for the next one parks as `readLine` does. Errors and cancellation end the sequence; the generator's
  /// `error` tells.
  ///
  /// - Parameter limit: Most bytes that a line may have.
  /// - Returns: The lines.
  public func lines(limit: Int = 1 << 16) -> Generator<String> {
    Generator { [self] yield in
      while let line = try readLine(limit: limit) { try yield(line) }
    }
  }

  // MARK: - Bytes

  /// Reads what comes before a mark, and the mark, which is not returned; parks until it has come.
  ///
  /// - Parameters:
  ///   - mark: One byte or more.
  ///   - limit: Most bytes before the mark.
  /// - Returns: The bytes; nil when there is no more.
  /// - Throws: `StreamEndedError` if the stream ends before the mark; `IOError`, with `EMSGSIZE` beyond the limit;
  ///   `CancellationError`; `CoroutineError.outsideCoroutine`. What has been read is kept in all these cases.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func read(until mark: some Collection<UInt8>, limit: Int = 1 << 16) throws -> [UInt8]? {
    demand(
      !mark.isEmpty,
      "BufferedReader.read(until:): the mark is empty; it must have 1 byte or more."
    )
    demand(
      limit >= 0,
      "BufferedReader.read(until:limit: \(limit)): the limit must be 0 or more."
    )
    let mark = Array(mark)
    let (found, isEnd) = try find(mark, limit: limit)
    if isEnd, found == 0 { return nil }
    if isEnd { throw StreamEndedError(expected: found + mark.count, received: found) }
    let bytes = Array(kept[head..<head + found])
    give(found + mark.count)
    return bytes
  }

  /// Reads so many bytes; parks until they have come.
  ///
  /// Memory is used for what has come, not for what was announced: a count from the other end may be passed, once
  /// it has been compared with what makes sense.
  ///
  /// - Parameter count: How many.
  /// - Returns: The bytes.
  /// - Throws: `StreamEndedError` if there are fewer; `IOError`; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`. What has been read is kept in all these cases.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func read(exactly count: Int) throws -> [UInt8] {
    let bytes = try peek(count)
    if bytes.count < count { throw StreamEndedError(expected: count, received: bytes.count) }
    give(count)
    return bytes
  }

  /// Reads what there is; parks only if there is nothing.
  ///
  /// - Parameter count: At most so many bytes.
  /// - Returns: The bytes; none when there will be no more.
  /// - Throws: `IOError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func read(upTo count: Int = 1 << 14) throws -> [UInt8] {
    demand(count > 0, "BufferedReader.read(upTo: \(count)): it must be 1 or more.")
    if bufferedCount == 0 { _ = try fill() }
    let bytes = Array(kept[head..<head + min(count, bufferedCount)])
    give(bytes.count)
    return bytes
  }

  /// Looks at the next bytes and leaves them; parks until they have come.
  ///
  /// - Parameter count: How many.
  /// - Returns: The bytes; fewer if the stream ends before.
  /// - Throws: `IOError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func peek(_ count: Int) throws -> [UInt8] {
    demand(
      count >= 0,
      "BufferedReader was to read or peek \(count) bytes; the count must be 0 or more."
    )
    while bufferedCount < count, try fill() {}
    return Array(kept[head..<head + min(count, bufferedCount)])
  }

  // MARK: - Inside

  private var tooLong: IOError {
    IOError(
      code: cio_too_long,
      operation: "reading from",
      subject: stream.peer?.description ?? "a stream"
    )
  }

  /// How far the mark is; or how much there is before the end of the stream.
  private func find(_ mark: [UInt8], limit: Int) throws -> (count: Int, isEnd: Bool) {
    var searched = 0
    while true {
      if let place = place(of: mark, from: searched) {
        if place > limit { throw tooLong }
        return (place, false)
      }
      // The mark may have begun.
      searched = max(0, bufferedCount - mark.count + 1)
      if searched > limit { throw tooLong }
      if try !fill() {
        if bufferedCount > limit { throw tooLong }
        return (bufferedCount, true)
      }
    }
  }

  private func place(of mark: [UInt8], from start: Int) -> Int? {
    kept.withUnsafeBufferPointer { all in
      let bytes = UnsafeBufferPointer(rebasing: all[head...])
      var place = start
      while place + mark.count <= bytes.count {
        guard let next = bytes[place...(bytes.count - mark.count)].firstIndex(of: mark[0]) else {
          return nil
        }
        if bytes[next..<next + mark.count].elementsEqual(mark) { return next }
        place = next + 1
      }
      return nil
    }
  }

  /// Keeps some more of the stream.
  ///
  /// - Returns: False at its end.
  private func fill() throws -> Bool {
    let more = try stream.read(upTo: capacity)
    if bufferedCount == 0 {
      kept = more
      head = 0
      return !more.isEmpty
    }
    if head > 0 {
      kept.removeFirst(head)
      head = 0
    }
    kept += more
    return !more.isEmpty
  }

  private func give(_ count: Int) {
    head += count
    if head < kept.count { return }
    // While it waits for more it holds no memory.
    kept = []
    head = 0
  }
}

// SPDX-License-Identifier: Apache-2.0

public import Coroutines

extension ByteStream {
  /// The lines that are still to be read, as a channel: for a `select`, or several readers.
  ///
  /// A coroutine, a child of the caller, reads while there is room in the channel, and so lets the other end wait
  /// when nobody takes lines. The channel is closed at the end of the stream. It is also closed by an error, by a line
  /// that is too long and by cancellation; the error is that coroutine's, and comes to whoever the errors of launched
  /// coroutines come to. Where you want to handle it, use `BufferedReader`.
  ///
  /// - Parameters:
  ///   - limit: Most bytes that a line may have.
  ///   - capacity: How many lines the channel keeps.
  /// - Returns: The lines, without their ends.
  /// - Throws: `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func lineChannel(
    limit: Int = 1 << 16,
    capacity: ChannelCapacity = 16
  ) throws -> ReceiveEnd<String> {
    if Coroutine.current == nil { throw CoroutineError.outsideCoroutine("ByteStream.lineChannel") }
    let lines = Channel<String>(capacity: capacity, name: "lines")
    let reader = launch(name: "lines") { [self] in
      let reader = BufferedReader(self)
      while let line = try reader.readLine(limit: limit) { try lines.send(line) }
    }
    // Also if it has not begun.
    reader.onFinish { lines.close() }
    return lines.receiveEnd
  }
}

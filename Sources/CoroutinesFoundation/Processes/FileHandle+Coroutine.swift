// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
public import Coroutines
public import Foundation

extension FileHandle: CoroutineNamespaceProviding {}

/// Pipes, sockets and terminals are waited for; the blocking calls on files run on the offload pool.
/// One coroutine at a time reads a handle, and one writes it; closing it ends no wait, so cancel first.
extension CoroutineNamespace where Base: FileHandle {
  /// Reads what there is, and parks only while there is nothing.
  ///
  /// Outside a coroutine it blocks the thread.
  ///
  /// *Cancellation:* has read nothing.
  ///
  /// - Parameter count: Most bytes to read; more than 0.
  /// - Returns: One byte or more; nil at the end.
  /// - Throws: `POSIXError`; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func read(upToCount count: Int) throws -> Data? {
    demand(count > 0, "read(upToCount: \(count)): it must be more than 0.")
    let data = try Descriptor(base).read(upTo: count)
    return data.isEmpty ? nil : data
  }

  /// Reads to the end; parks until it has come.
  ///
  /// Outside a coroutine it blocks the thread.
  ///
  /// *Cancellation:* drops what it has read.
  ///
  /// - Returns: One byte or more; nil if there was none.
  /// - Throws: `POSIXError`; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func readToEnd() throws -> Data? {
    let data = try Descriptor(base).readToEnd()
    return data.isEmpty ? nil : data
  }

  /// Writes all of it; parks while there is no room.
  ///
  /// Outside a coroutine it blocks the thread. Nobody reading any more is an error (`EPIPE`), not a
  /// signal.
  ///
  /// *Cancellation:* of a wait for room leaves written what has been written; a write to a file that has
  /// begun goes on to its end.
  ///
  /// - Parameter data: The bytes.
  /// - Throws: `POSIXError`; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func write(contentsOf data: some DataProtocol) throws {
    try Descriptor(base).write(Data(data))
  }

  /// The lines that are still to be read, without their ends (`\n` or `\r\n`).
  ///
  /// Asking for the next one parks as `read(upToCount:)` does. Bytes that are not UTF-8 are replaced.
  /// The generator reads ahead, up to 64 KiB: what comes after the last line taken may be lost to others
  /// who read the handle.
  ///
  /// *Cancellation and errors:* end the sequence; `Generator.error` tells.
  public var lines: Generator<String> {
    let handle = base
    return Generator { yield in
      let descriptor = try Descriptor(handle)
      var splitter = LineSplitter()
      while true {
        let data = try descriptor.read(upTo: 1 << 16)
        if data.isEmpty { break }
        for line in splitter.split(data) { try yield(line) }
      }
      if let last = splitter.rest { try yield(last) }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

public import Coroutines
public import Foundation

/// A process that `Process.co.start` has started.
///
/// Dropping it changes nothing.
public final class RunningProcess: Sendable {
  private let process: StartedProcess
  private let supervisor: Coroutine

  /// Its standard output in lines, without their ends; closed when it has ended.
  ///
  /// Closed from the beginning if the stream was not connected. Bytes that are not UTF-8 are replaced.
  public let outputLines: ReceiveEnd<String>

  /// Its standard error in lines; as `outputLines`.
  public let errorLines: ReceiveEnd<String>

  init(_ process: StartedProcess, _ capacity: ChannelCapacity, _ grace: Duration) {
    self.process = process
    outputLines = Self.lines(of: process.output, capacity)
    errorLines = Self.lines(of: process.errors, capacity)
    supervisor = launchServant(
      "process",
      ifNotRun: { launch(on: .shared, name: "process") { process.terminate(grace: grace) } },
      { _ = try process.supervise(grace: grace) }
    )
  }

  private static func lines(
    of handle: FileHandle?,
    _ capacity: ChannelCapacity
  ) -> ReceiveEnd<String> {
    let lines = Channel<String>(capacity: capacity)
    guard let handle else {
      lines.close()
      return lines.receiveEnd
    }
    launchServant("lines", ifNotRun: { lines.close() }) {
      defer { lines.close() }
      let descriptor = try Descriptor(handle)
      var splitter = LineSplitter()
      while true {
        let data = try descriptor.read(upTo: 1 << 16)
        if data.isEmpty { break }
        for line in splitter.split(data) { try lines.send(line) }
      }
      if let last = splitter.rest { try lines.send(last) }
    }
    return lines.receiveEnd
  }

  /// Its number.
  public var identifier: Int32 { process.identifier }

  /// It has not ended.
  public var isRunning: Bool { process.exit.termination.isPending }

  /// How it ended; parks until it has.
  ///
  /// Lines may still be on their way then. Outside a coroutine it blocks the thread.
  ///
  /// *Cancellation:* ends the wait. (A process that the cancelled coroutine started is cancelled with it.)
  ///
  /// - Returns: Status or signal.
  /// - Throws: `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func termination() throws -> ProcessTermination {
    try runBlocking { try process.exit.termination.await() }
  }

  /// Writes to its standard input; parks while the pipe is full.
  ///
  /// Outside a coroutine it blocks the thread.
  ///
  /// *Cancellation:* leaves written what has been written.
  ///
  /// - Parameter data: The bytes.
  /// - Throws: `POSIXError` (`EPIPE` if nobody reads any more, `EBADF` if the stream was not connected or
  ///   has been closed); `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func write(_ data: Data) throws {
    guard let input = process.input else { throw POSIXError(.EBADF) }
    try Descriptor(input).write(data)
  }

  /// Ends its standard input.
  ///
  /// Closing twice has no effect.
  public func closeInput() { try? process.input?.close() }

  /// Sends it a signal, unless it has ended.
  ///
  /// - Parameter number: `SIGINT`, `SIGHUP`, …
  public func signal(_ number: Int32) { process.signal(number) }

  /// Ends it: SIGTERM now, SIGKILL after the grace.
  ///
  /// Does not wait; `termination()` does.
  public func cancel() { supervisor.cancel() }
}

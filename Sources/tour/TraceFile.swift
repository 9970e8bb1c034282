// SPDX-License-Identifier: Apache-2.0

import CoroutinesTracing
import Glibc

/// Where `--trace` puts what it recorded: a page, or Chrome's trace event format.
enum TraceFile {
  /// It cannot be written.
  struct Unwritable: Error {
    let message: String
  }

  /// Events kept of each thread: some minutes of a tour.
  private static let eventsPerThread = 1 << 20

  /// Runs `body`, and records it if there is a path.
  ///
  /// The file is opened first, so that nobody waits for a tour whose trace has no place to go.
  static func recording<Result>(
    to path: BytePath?,
    _ title: String,
    _ body: () throws -> Result
  ) throws -> Result {
    guard let path else { return try body() }
    let file = path.withCString { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666) }
    guard file >= 0 else { throw Unwritable(message: "\(path): \(Problem.text(errno))") }
    defer { close(file) }
    let (result, trace) = try Tracing.record(eventsPerThread: eventsPerThread, body)
    let isJSON = path.bytes.suffix(5) == Array(".json".utf8)
    let text = isJSON ? trace.chromeJSON : trace.html(title: title)
    guard Output.write(text, to: file) else {
      throw Unwritable(message: "\(path): \(Problem.text(errno))")
    }
    return result
  }
}

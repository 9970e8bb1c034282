// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Coroutines
import Glibc

/// A connection to the server, with libpq's synchronous calls and nothing else.
///
/// Nothing here knows of event loops: the same class serves the threads that the coroutines are compared with.
final class Connection {
  private let raw: OpaquePointer
  private var hasLostStep = false

  /// Connects to where `PGHOST`, `PGPORT` and their like say.
  init() throws {
    guard let raw = PQconnectdb("connect_timeout=5") else { throw PostgresError("no memory") }
    self.raw = raw
    // What the server says unasked, as that it is being shut down, libpq would print.
    PQsetNoticeProcessor(raw, { _, _ in }, nil)
    if PQstatus(raw) != CONNECTION_OK {
      // `deinit` runs although `init` throws: every property has its value.
      throw PostgresError(String(cString: PQerrorMessage(raw)))
    }
  }

  deinit {
    PQfinish(raw)
  }

  /// It can take another query.
  var isUsable: Bool { !hasLostStep && PQstatus(raw) == CONNECTION_OK }

  /// Runs a query; parks until its result is there.
  ///
  /// *Cancellation:* the wait ends, the server is told to stop, and the connection is not usable any more: the
  /// answer to the cancelled query is still to come on it, and would be taken for that of the next.
  ///
  /// - Parameters:
  ///   - text: The query.
  ///   - parameters: What stands for `$1`, `$2` and so on.
  /// - Returns: The rows; a null is an empty text.
  /// - Throws: `PostgresError`; `CancellationError`.
  @discardableResult
  func query(_ text: String, _ parameters: [String] = []) throws -> [[String]] {
    let result = withCStrings(parameters) { values in
      PQexecParams(raw, text, Int32(parameters.count), nil, values, nil, nil, 0)
    }
    defer { PQclear(result) }
    let status = PQresultStatus(result)
    if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK { return rows(of: result) }
    if Coroutine.isCancelled {
      hasLostStep = true
      // Cancelled code cannot wait, and this has to; but not for ever.
      try withCancellationShield { try withTimeout(.seconds(5)) { tellServerToStop() } }
      throw CancellationError()
    }
    throw PostgresError(
      String(cString: PQresultErrorMessage(result)),
      state: PQresultErrorField(result, example_sqlstate_field).map { String(cString: $0) }
    )
  }

  /// The number of the server's process that serves this connection.
  var serverProcess: Int { Int(PQbackendPID(raw)) }

  /// Asks the server, over a connection of its own, to end the query that runs on this one.
  func tellServerToStop() {
    guard let cancel = PQgetCancel(raw) else { return }
    defer { PQfreeCancel(cancel) }
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
      // Should it fail, the server finds out when it has a result that nobody takes.
      _ = PQcancel(cancel, message.baseAddress, Int32(message.count))
    }
  }
}

/// What the server, or the way to it, had to object.
struct PostgresError: Error, CustomStringConvertible {
  let description: String
  /// The server's five-letter code; nil if the error is not the server's.
  let state: String?

  init(_ message: String, state: String? = nil) {
    var message = message
    while message.last?.isWhitespace == true { message.removeLast() }
    description = message
    self.state = state
  }
}

/// The rows of a result, as texts.
func rows(of result: OpaquePointer?) -> [[String]] {
  (0..<PQntuples(result)).map { row in
    (0..<PQnfields(result)).map { column in
      PQgetvalue(result, row, column).map { String(cString: $0) } ?? ""
    }
  }
}

/// Calls `body` with the texts as C has them; they last until it has returned.
func withCStrings<Result>(
  _ texts: [String],
  _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
  let copies = texts.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  return body(copies.map { UnsafePointer($0) })
}

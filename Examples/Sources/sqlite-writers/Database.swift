// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Coroutines

/// A connection to a database file, for one coroutine or one thread.
///
/// With BlockingCalls on, SQLite runs on the coroutine itself. Its syncs of files, and its reads of what is not in
/// memory, park it while a thread of the offload pool does them; writes go into memory and return.
///
/// Mutexes of threads do not keep coroutines of one thread apart. So a connection is never shared: SQLite's mutex
/// around it would let the second coroutine in, since both are the thread that holds it. It is opened without one
/// (`SQLITE_OPEN_NOMUTEX`). And what SQLite does once, under mutexes of the library, is done before coroutines run.
final class Database {
  /// What a connection does while another one has the file locked.
  enum Patience {
    /// Parks the coroutine.
    case parks
    /// Blocks the thread: SQLite's own way.
    case blocks
  }

  private let raw: OpaquePointer

  /// Has the library do what it does once, such as reading its random seed; outside coroutines.
  static func prepareLibrary() {
    sqlite3_initialize()
    var number: UInt32 = 0
    sqlite3_randomness(4, &number)
  }

  /// Opens a file, or makes it.
  init(_ path: String, _ patience: Patience) throws {
    var raw: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(path, &raw, flags, nil)
    guard code == SQLITE_OK, let raw else {
      sqlite3_close(raw)
      throw SQLiteError(code: code, description: String(cString: sqlite3_errstr(code)))
    }
    self.raw = raw
    switch patience {
    case .parks:
      // Called in the middle of SQLite's C code, on the coroutine's own stack: that is all it takes.
      sqlite3_busy_handler(
        raw,
        { _, attempts in
          guard attempts < 3000 else { return 0 }
          do {
            let longest = Duration.milliseconds(min(Int(attempts) + 1, 20))
            try Coroutine.sleep(for: longest * Double.random(in: 0.2...1))
            return 1
          } catch {
            // Cancelled: SQLite gives up with SQLITE_BUSY.
            return 0
          }
        },
        nil
      )
    case .blocks:
      sqlite3_busy_timeout(raw, 60_000)
    }
  }

  deinit {
    sqlite3_close(raw)
  }

  /// Runs `body` as a transaction that writes; parks until no other connection writes.
  ///
  /// *Cancellation:* ends the wait for others, and leaves the connection as it was. Once the transaction has begun,
  /// it is carried through.
  func transaction(_ body: () throws -> Void) throws {
    // Locks at once: of two that read first and then want to write, one would have to start over.
    try execute("BEGIN IMMEDIATE")
    // A file call that is cancelled fails, and the transaction with it: these few are not.
    try shielded {
      do {
        try body()
        try execute("COMMIT")
      } catch {
        _ = try? execute("ROLLBACK")
        throw error
      }
    }
  }

  /// Runs a statement to its end.
  ///
  /// - Parameters:
  ///   - text: The statement.
  ///   - parameters: What stands for its question marks.
  /// - Returns: The first column of its rows, as text.
  /// - Throws: `SQLiteError`; `CancellationError`.
  @discardableResult
  func execute(_ text: String, _ parameters: String...) throws -> [String] {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(raw, text, -1, &statement, nil))
    defer { sqlite3_finalize(statement) }
    for (index, parameter) in parameters.enumerated() {
      try check(example_bind_text(statement, Int32(index + 1), parameter))
    }
    var rows: [String] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: rows.append(String(cString: sqlite3_column_text(statement, 0)))
      case SQLITE_DONE: return rows
      case let code: try check(code)
      }
    }
  }

  private func check(_ code: Int32) throws {
    guard code != SQLITE_OK else { return }
    try Coroutine.checkCancellation()
    throw SQLiteError(code: code, description: String(cString: sqlite3_errmsg(raw)))
  }

  private func shielded(_ body: () throws -> Void) throws {
    if Coroutine.current == nil { try body() } else { try withCancellationShield(body) }
  }
}

/// What SQLite had to object.
struct SQLiteError: Error, CustomStringConvertible {
  let code: Int32
  let description: String
}

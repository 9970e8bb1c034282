// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Many coroutines store rows, each over its own connection, while the server is killed and restarted.
///
/// A row whose storing was acknowledged must be there afterwards. Of a row that was sent and not acknowledged
/// nobody knows; it is stored again, and so it may be there once more for each such attempt.
public final class Ledger<Connection> {
  /// Stores a row: the connection, the writer's number, the row's, and what to call right before the request
  /// that makes the row last.
  public typealias Store = (Connection, Int, Int, _ isAboutToLast: () -> Void) throws -> Void

  /// What a writer knows of one row.
  private struct Row {
    var isAcknowledged = false
    /// Attempts after which it may be there, for all that is known.
    var unanswered = 0
  }

  /// One of the coroutines.
  private final class Writer {
    var rows: [Row] = []
    var errors = 0
  }

  private let open: () throws -> Connection
  private let store: Store
  private let writers: [Writer]
  private var acknowledged = 0
  private var isOver = false

  /// A ledger with no rows.
  ///
  /// - Parameters:
  ///   - writers: How many coroutines there will be.
  ///   - open: Opens a connection.
  ///   - store: Stores a row.
  public init(
    writers: Int,
    open: @escaping () throws -> Connection,
    store: @escaping Store
  ) {
    self.writers = (0..<writers).map { _ in Writer() }
    self.open = open
    self.store = store
  }

  /// Has the writers write, kills the server among them, restarts it, and has them write again; parks meanwhile.
  ///
  /// - Parameters:
  ///   - server: What is killed.
  ///   - rows: How many rows are stored before it, and again after it.
  /// - Throws: `TimeoutError` if it is not over after a minute; what the server's commands throw.
  public func run(_ server: Server, rows: Int) throws {
    let start = ContinuousClock.now
    var outage = Duration.zero
    try withTimeout(.seconds(60)) {
      try withCoroutineScope { scope in
        for number in writers.indices { scope.launch { try self.write(number) } }
        try waitUntil { acknowledged >= rows }
        let killed = ContinuousClock.now
        try server.kill()
        try server.restart()
        outage = ContinuousClock.now - killed
        let before = acknowledged
        // All writers must have lived through it.
        try waitUntil { acknowledged >= before + rows && writers.allSatisfy { $0.errors > 0 } }
        isOver = true
      }
    }
    print(
      "  \(acknowledged) rows acknowledged in \(seconds(ContinuousClock.now - start)) s; "
        + "the server was away for \(seconds(outage)) s of it"
    )
  }

  private func waitUntil(_ condition: () -> Bool) throws {
    while !condition() { try Coroutine.sleep(for: .milliseconds(1)) }
  }

  private func write(_ number: Int) throws {
    let writer = writers[number]
    var connection: Connection?
    var backOff = BackOff()
    while !isOver {
      if writer.rows.last?.isAcknowledged ?? true { writer.rows.append(Row()) }
      let row = writer.rows.count - 1
      do {
        // Whatever happens to the server, no attempt takes longer.
        try withTimeout(.seconds(5)) {
          let current = try connection ?? open()
          connection = current
          var mayLast = false
          // The count stands if this throws after it has been sent.
          try store(current, number, row) {
            writer.rows[row].unanswered += 1
            mayLast = true
          }
          if mayLast { writer.rows[row].unanswered -= 1 }
        }
        writer.rows[row].isAcknowledged = true
        acknowledged += 1
        backOff = BackOff()
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        writer.errors += 1
        connection = nil
        try backOff.wait()
      }
    }
  }

  /// Compares what is stored with what the writers know.
  ///
  /// - Parameters:
  ///   - stored: How often each row is stored, by writer and row.
  ///   - checks: Gets what is claimed.
  public func check(_ stored: [Key: Int], _ checks: Checks) {
    var stored = stored
    var (lost, surplus, duplicates, unanswered) = (0, 0, 0, 0)
    for (number, writer) in writers.enumerated() {
      for (index, row) in writer.rows.enumerated() {
        let count = stored.removeValue(forKey: Key(writer: number, row: index)) ?? 0
        let owed = row.isAcknowledged ? 1 : 0
        if count < owed { lost += 1 }
        if count > owed + row.unanswered { surplus += 1 }
        duplicates += max(0, count - 1)
        unanswered += row.unanswered
      }
    }
    let fewest = writers.map(\.errors).min() ?? 0
    checks.expect(fewest > 0, "each of \(writers.count) coroutines saw an error, and went on")
    checks.expect(lost == 0, "of \(acknowledged) acknowledged rows none is lost (\(lost))")
    checks.expect(
      surplus == 0 && stored.isEmpty,
      "\(unanswered) acknowledgements were lost; \(duplicates) rows are there twice, all of them such"
    )
  }

  /// A row of a writer.
  public struct Key: Hashable {
    let writer: Int
    let row: Int

    /// A row of a writer.
    ///
    /// - Parameters:
    ///   - writer: The writer's number.
    ///   - row: The row's number among the writer's.
    public init(writer: Int, row: Int) {
      self.writer = writer
      self.row = row
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import ExampleSupport

/// Transactions in many coroutines, with the server killed and restarted in the middle.
enum Restart {
  /// Runs them, and counts the rows.
  ///
  /// - Parameters:
  ///   - writers: How many coroutines insert.
  ///   - server: What is killed.
  ///   - checks: Gets what is claimed.
  /// - Throws: What was not foreseen; `TimeoutError`.
  static func run(writers: Int, _ server: Server, _ checks: Checks) throws {
    try Connection().query("CREATE TABLE ledger (writer int, row int)")
    let ledger = Ledger(writers: writers, open: Connection.init) {
      connection,
      writer,
      row,
      isAboutToLast in
      try connection.query("BEGIN")
      try connection.query("INSERT INTO ledger VALUES ($1, $2)", [String(writer), String(row)])
      isAboutToLast()
      try connection.query("COMMIT")
    }
    try ledger.run(server, rows: writers * 20)

    var stored: [Ledger<Connection>.Key: Int] = [:]
    for row in try Connection().query("SELECT writer, row, count(*) FROM ledger GROUP BY 1, 2") {
      let numbers = row.compactMap { Int($0) }
      stored[.init(writer: numbers[0], row: numbers[1])] = numbers[2]
    }
    ledger.check(stored, checks)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import ExampleSupport

/// Writes in many coroutines, with the server killed and restarted in the middle.
enum Restart {
  /// Runs them, and counts what is stored.
  ///
  /// - Parameters:
  ///   - writers: How many coroutines write.
  ///   - address: The server's address.
  ///   - server: What is killed.
  ///   - checks: Gets what is claimed.
  /// - Throws: What was not foreseen; `TimeoutError`.
  static func run(writers: Int, _ address: Address, _ server: Server, _ checks: Checks) throws {
    let ledger = Ledger(writers: writers, open: { try Connection(address) }) {
      connection,
      writer,
      row,
      isAboutToLast in
      isAboutToLast()
      try connection.command("RPUSH", "ledger:\(writer)", String(row))
    }
    try ledger.run(server, rows: writers * 20)

    var stored: [Ledger<Connection>.Key: Int] = [:]
    let reader = try Connection(address)
    for writer in 0..<writers {
      guard case .list(let rows) = try reader.command("LRANGE", "ledger:\(writer)", "0", "-1")
      else {
        throw RedisError(description: "LRANGE answered something else than a list")
      }
      for case .text(let row) in rows {
        stored[.init(writer: writer, row: Int(row) ?? -1), default: 0] += 1
      }
    }
    ledger.check(stored, checks)
  }
}

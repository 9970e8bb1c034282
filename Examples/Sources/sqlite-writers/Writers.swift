// SPDX-License-Identifier: Apache-2.0

import Coroutines
import ExampleSupport

/// Many writers of one file: each adds one to the same counter, again and again, in transactions.
struct Writers {
  let count: Int
  let transactions: Int
  let path: String

  /// The database before they begin.
  ///
  /// - Parameter journal: SQLite's way to keep transactions whole: `DELETE` (a rollback journal) or `WAL`.
  /// - Throws: `SQLiteError`.
  func prepare(_ journal: String) throws {
    let database = try Database(path, .blocks)
    try database.execute("PRAGMA journal_mode = \(journal)")
    try database.execute("CREATE TABLE IF NOT EXISTS counter (n INTEGER)")
    try database.execute("CREATE TABLE IF NOT EXISTS log (writer INTEGER, step INTEGER)")
    try database.execute("DELETE FROM counter")
    try database.execute("DELETE FROM log")
    try database.execute("INSERT INTO counter VALUES (0)")
  }

  /// Whether every transaction has done all it should, and once.
  func isRight() throws -> Bool {
    let database = try Database(path, .blocks)
    let total = [String(count * transactions)]
    return try database.execute("SELECT n FROM counter") == total
      && database.execute("SELECT count(*) FROM (SELECT DISTINCT writer, step FROM log)") == total
      && database.execute("SELECT count(*) FROM log") == total
      && database.execute("PRAGMA integrity_check") == ["ok"]
  }

  /// Each writer a coroutine, all on the calling thread; while one writes, the others' busy handlers park.
  func inCoroutines(_ threads: ThreadCount) throws {
    try withCoroutineScope { scope in
      for writer in 0..<count {
        scope.launch { try write(writer, Database(path, .parks), threads) }
      }
    }
  }

  /// The same, but they queue up at a lock of ours first, so that SQLite's is always free.
  func inCoroutinesThatQueue(_ threads: ThreadCount) throws {
    let mutex = CoroutineMutex()
    try withCoroutineScope { scope in
      for writer in 0..<count {
        scope.launch {
          let database = try Database(path, .parks)
          for step in 0..<transactions {
            try mutex.withLock { try Self.add(writer, step, database, threads) }
          }
        }
      }
    }
  }

  /// Each writer a coroutine, and each transaction on a thread of the offload pool, which SQLite's own wait blocks.
  func offloaded(_ threads: ThreadCount) throws {
    let (path, transactions) = (path, transactions)
    try withCoroutineScope { scope in
      for writer in 0..<count {
        scope.launch {
          for step in 0..<transactions {
            try offload {
              try Writers.add(writer, step, Database(path, .blocks), threads)
            }
          }
        }
      }
    }
  }

  /// Each writer a thread.
  func inThreads(_ threads: ThreadCount) {
    runThreads(count) { writer in
      do {
        try write(writer, Database(path, .blocks), threads)
      } catch {
        stop("a thread's transaction: \(error)")
      }
    }
  }

  private func write(_ writer: Int, _ database: Database, _ threads: ThreadCount) throws {
    for step in 0..<transactions { try Self.add(writer, step, database, threads) }
  }

  private static func add(
    _ writer: Int,
    _ step: Int,
    _ database: Database,
    _ threads: ThreadCount
  ) throws {
    try database.transaction {
      threads.note()
      let now = try database.execute("SELECT n FROM counter")[0]
      try database.execute("UPDATE counter SET n = ? + 1", now)
      try database.execute("INSERT INTO log VALUES (?, ?)", String(writer), String(step))
    }
  }
}

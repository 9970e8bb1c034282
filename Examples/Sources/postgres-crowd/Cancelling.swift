// SPDX-License-Identifier: Apache-2.0

import Coroutines
import ExampleSupport

/// Queries that would take half a minute, and are not given it.
enum Cancelling {
  /// By a limit around a plain `query`: the connection is replaced.
  static func byReplacing(_ checks: Checks) throws {
    let pool = Pool(size: 1, open: Connection.init, isUsable: \.isUsable)
    let before = try pool.withConnection { $0.serverProcess }
    let took = try timeToTimeOut {
      _ = try pool.withConnection { try $0.query("SELECT pg_sleep(30)") }
    }
    checks.expect(
      took < .seconds(5),
      "withTimeout(200 ms) around pg_sleep(30) ended after \(seconds(took)) s"
    )
    try checks.expect(isServerFree(), "the server stopped working on it")
    let (after, answer) = try pool.withConnection {
      ($0.serverProcess, try $0.query("SELECT 6 * 7")[0][0])
    }
    checks.expect(
      after != before && answer == "42",
      "the pool had replaced the connection (server process \(before), then \(after)), and it works"
    )
  }

  /// By telling the server first, and waiting for its answer, which comes at once: the connection is kept.
  static func byAsking(_ checks: Checks) throws {
    let connection = try Connection()
    let took = try timeToTimeOut {
      let query = launch {
        // Only the server ends this wait: the connection and it never get out of step.
        try withCancellationShield { try connection.query("SELECT pg_sleep(30)") }
      }
      do {
        _ = try query.value()
      } catch is CancellationError {
        try withCancellationShield {
          connection.tellServerToStop()
          do { _ = try query.value() } catch let error as PostgresError where error.state == "57014"
          {}
        }
        throw CancellationError()
      }
    }
    checks.expect(took < .seconds(5), "asking the server first, it ended after \(seconds(took)) s")
    checks.expect(
      try connection.query("SELECT 6 * 7") == [["42"]],
      "the connection is the same, and works"
    )
  }

  private static func timeToTimeOut(_ body: () throws -> Void) throws -> Duration {
    let start = ContinuousClock.now
    do {
      try withTimeout(.milliseconds(200), body)
      return .seconds(30)
    } catch is TimeoutError {
      return ContinuousClock.now - start
    }
  }

  /// Whether, within two seconds, no query of the kind is running in the server.
  private static func isServerFree() throws -> Bool {
    let observer = try Connection()
    let question = """
      SELECT count(*) FROM pg_stat_activity
      WHERE state = 'active' AND query LIKE '%pg_sleep(30)%' AND pid <> pg_backend_pid()
      """
    for _ in 0..<200 {
      if try observer.query(question) == [["0"]] { return true }
      try Coroutine.sleep(for: .milliseconds(10))
    }
    return false
  }
}

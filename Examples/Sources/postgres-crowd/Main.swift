// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesBlockingCalls
import ExampleSupport

@main
struct PostgresCrowd {
  static let usage = """
    usage: with-postgres postgres-crowd [--check] [--queries N] [--connections N] [--writers N]

    A thousand coroutines, each with a synchronous PQexecParams, on one thread; a query that is cancelled; and
    a server that is killed with SIGKILL and restarted under a crowd of writers. Checks all results.
    """

  static func main() {
    Checks.run(limit: 240, run)
  }

  private static func run(_ checks: Checks) throws {
    let options = Options(usage: usage, names: ["--queries", "--connections", "--writers"])
    let server = Server(startedBy: "with-postgres")

    // The line that matters: from here on libpq's waits park the coroutine that called it.
    BlockingCalls.enable()
    checks.expectCovered("libpq")

    let queries = options.number("--queries", full: 1000, check: 300)
    let connections = options.number("--connections", full: 50, check: 50)
    try compare(
      "\(queries) × SELECT pg_sleep(0.05), \(connections) connections",
      Crowd(queries: queries, connections: connections, text: "SELECT pg_sleep(0.05), $1"),
      checks
    )
    try compare(
      "\(queries * 10) × SELECT that needs no time, \(connections) connections",
      Crowd(queries: queries * 10, connections: connections, text: "SELECT 0, $1"),
      checks
    )

    print("cancelling")
    try runBlocking {
      try Cancelling.byReplacing(checks)
      try Cancelling.byAsking(checks)
    }

    let writers = options.number("--writers", full: 100, check: 40)
    print("SIGKILL and restart under \(writers) writers")
    try runBlocking {
      try Restart.run(writers: writers, server, checks)
    }
    printWhatBlocked()
  }

  /// The same crowd three ways, one after another.
  private static func compare(_ title: String, _ crowd: Crowd, _ checks: Checks) throws {
    print(title)
    let expected = (0..<crowd.queries).map { String($0) }
    let threads = ThreadCount()
    let watch = LoopWatch()
    try measure("coroutines, synchronous calls", threads) {
      let answers = try runBlocking { try watch.run { try crowd.inCoroutines(threads) } }
      checks.expect(answers == expected, "\(crowd.queries) answers, each to its question")
    }
    checks.expect(threads.ofWorkers == 1, "one thread did it")
    watch.check(checks)
    measure("threads, synchronous calls", threads) {
      checks.expect(crowd.inThreads(threads) == expected, "the same with threads")
    }
    try measure("one thread, asynchronous calls", threads) {
      checks.expect(
        try crowd.asynchronously(threads) == expected,
        "the same with PQsendQueryParams"
      )
    }
  }
}

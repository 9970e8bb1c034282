// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesBlockingCalls
import ExampleSupport
import Glibc

@main
struct SQLiteWriters {
  static let usage = """
    usage: sqlite-writers [--check] [--writers N] [--transactions N]

    A hundred coroutines that write one SQLite file on one thread, and wait for one another without blocking it.
    Checks all results.
    """

  static func main() {
    Checks.run(limit: 240, run)
  }

  private static func run(_ checks: Checks) throws {
    let options = Options(usage: usage, names: ["--writers", "--transactions"])
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }

    Database.prepareLibrary()
    // The line that matters: from here on SQLite's file calls park the coroutine that runs it.
    BlockingCalls.enable()
    checks.expectCovered("libsqlite3")

    let writers = Writers(
      count: options.number("--writers", full: 100, check: 100),
      transactions: options.number("--transactions", full: 10, check: 2),
      path: directory + "/shared.db"
    )
    for journal in ["DELETE", "WAL"] { try compare(writers, journal, checks) }
    print("cancelling")
    try runBlocking { try cancel(directory + "/other.db", checks) }
    printWhatBlocked()
  }

  /// The same writers four ways, one after another, with one of SQLite's journals.
  private static func compare(_ writers: Writers, _ journal: String, _ checks: Checks) throws {
    print(
      "\(writers.count) writers of one file, \(writers.transactions) transactions each, journal \(journal)"
    )
    let threads = ThreadCount()
    func run(_ label: String, _ work: () throws -> Void) throws {
      try writers.prepare(journal)
      try measure(label, threads, work)
      try checks.expect(writers.isRight(), "every transaction is there once")
    }
    func runWatched(_ label: String, _ work: () throws -> Void) throws {
      let watch = LoopWatch()
      try run(label) { try runBlocking { try watch.run(work) } }
      watch.check(checks)
    }
    try runWatched("coroutines, busy handler parks") { try writers.inCoroutines(threads) }
    checks.expect(threads.ofWorkers == 1, "one thread did it")
    try runWatched("coroutines, behind a CoroutineMutex") {
      try writers.inCoroutinesThatQueue(threads)
    }
    try runWatched("coroutines, offload { }") { try writers.offloaded(threads) }
    try run("threads") { writers.inThreads(threads) }
  }

  /// A writer that waits for another is cancelled, and can go on with its connection.
  private static func cancel(_ path: String, _ checks: Checks) throws {
    let (holder, waiter) = (try Database(path, .parks), try Database(path, .parks))
    try holder.execute("CREATE TABLE t (n INTEGER)")
    try holder.transaction {
      let start = ContinuousClock.now
      do {
        try withTimeout(.milliseconds(200)) {
          try waiter.transaction { try waiter.execute("INSERT INTO t VALUES (1)") }
        }
        checks.expect(false, "withTimeout(200 ms) ends the wait for another writer")
      } catch is TimeoutError {
        let took = ContinuousClock.now - start
        checks.expect(
          took < .seconds(5),
          "withTimeout(200 ms) ended the wait for another writer after \(seconds(took)) s"
        )
      }
    }
    try waiter.transaction { try waiter.execute("INSERT INTO t VALUES (2)") }
    checks.expect(
      try holder.execute("SELECT n FROM t") == ["2"],
      "nothing of the cancelled transaction is there, and its connection works"
    )
  }

  private static func temporaryDirectory() throws -> String {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/sqlite-writers.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { stop("mkdtemp: \(String(cString: strerror(errno)))") }
    return template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? parent }
  }

  private static func removeDirectory(_ path: String) {
    for name in ["shared.db", "shared.db-journal", "shared.db-wal", "shared.db-shm", "other.db"] {
      unlink("\(path)/\(name)")
    }
    rmdir(path)
  }
}

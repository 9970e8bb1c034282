// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesBlockingCalls
import ExampleSupport
import Glibc

@main
struct RedisCrowd {
  static let usage = """
    usage: with-redis redis-crowd [--check] [--clients N] [--connections N] [--writers N]

    Thousands of coroutines with hiredis' synchronous commands on one thread; BLPOP that waits, and one that is
    cancelled; and a server that is killed with SIGKILL and restarted under a crowd of writers. Checks all results.
    """

  static func main() {
    Checks.run(limit: 240, run)
  }

  private static func run(_ checks: Checks) throws {
    let options = Options(usage: usage, names: ["--clients", "--connections", "--writers"])
    let server = Server(startedBy: "with-redis")
    let address = Address(
      host: requiredVariable("REDIS_HOST", setBy: "with-redis"),
      port: Int32(requiredVariable("REDIS_PORT", setBy: "with-redis")) ?? 0
    )

    // hiredis writes with `write`, which is a signal to the process if the server is gone.
    signal(SIGPIPE, SIG_IGN)
    // The line that matters: from here on hiredis' waits park the coroutine that called it.
    BlockingCalls.enable()
    checks.expectCovered("libhiredis")

    let crowd = Crowd(
      clients: options.number("--clients", full: 10_000, check: 1000),
      connections: options.number("--connections", full: 50, check: 50),
      address: address
    )
    try compare(crowd, checks)

    print("waiting in BLPOP")
    try runBlocking {
      try Waiting.consume(
        options.number("--clients", full: 1000, check: 200),
        from: address,
        checks
      )
      try Waiting.cancel(address, checks)
    }

    let writers = options.number("--writers", full: 100, check: 40)
    print("SIGKILL and restart under \(writers) writers")
    try runBlocking {
      try Restart.run(writers: writers, address, server, checks)
    }
    printWhatBlocked()
  }

  /// The same crowd three ways, one after another.
  private static func compare(_ crowd: Crowd, _ checks: Checks) throws {
    print("\(crowd.clients) clients with SET and GET, \(crowd.connections) connections")
    let expected = (0..<crowd.clients).map { Reply.text("value \($0)") }
    let threads = ThreadCount()
    let watch = LoopWatch()
    try measure("coroutines, synchronous calls", threads) {
      let answers = try runBlocking { try watch.run { try crowd.inCoroutines(threads) } }
      checks.expect(answers == expected, "\(crowd.clients) answers, each to its question")
    }
    checks.expect(threads.ofWorkers == 1, "one thread did it")
    watch.check(checks)
    measure("threads, synchronous calls", threads) {
      checks.expect(crowd.inThreads(threads) == expected, "the same with threads")
    }
    try measure("one thread, asynchronous calls", threads) {
      checks.expect(try crowd.asynchronously(threads) == expected, "the same with callbacks")
    }
  }
}

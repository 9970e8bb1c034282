// SPDX-License-Identifier: Apache-2.0

import CCurl
import Coroutines
import CoroutinesBlockingCalls
import ExampleSupport
import Glibc

@main
struct CurlCrowd {
  static let usage = """
    usage: with-http curl-crowd [--check] [--transfers N]

    A thousand coroutines, each in curl_easy_perform, on one thread; and transfers that stall, ended by libcurl's
    limit and by withTimeout. Checks all results.
    """

  static func main() {
    Checks.run(limit: 120, run)
  }

  private static func run(_ checks: Checks) throws {
    let options = Options(usage: usage, names: ["--transfers"])
    let server = "http://127.0.0.1:\(requiredVariable("HTTP_PORT", setBy: "with-http"))"
    allowManyDescriptors()
    // Transfers do not change signals (CURLOPT_NOSIGNAL), so this is ours to do.
    signal(SIGPIPE, SIG_IGN)
    curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    // The line that matters: from here on libcurl's waits park the coroutine that called it.
    BlockingCalls.enable()
    checks.expectCovered("libcurl")

    let transfers = options.number("--transfers", full: 1000, check: 200)
    try compare(Crowd(transfers: transfers, server: server), checks)
    print("stalled transfers")
    try runBlocking {
      try Stalled.run(server, beside: Crowd(transfers: 100, server: server), checks)
    }
    printWhatBlocked()
  }

  /// The same crowd three ways, one after another.
  private static func compare(_ crowd: Crowd, _ checks: Checks) throws {
    print("\(crowd.transfers) transfers at once; the server answers each after 50 ms")
    let expected = (0..<crowd.transfers).map { "item \($0)\n" }
    let threads = ThreadCount()
    let watch = LoopWatch()
    try measure("coroutines, synchronous calls", threads) {
      let answers = try runBlocking { try watch.run { try crowd.inCoroutines(threads) } }
      checks.expect(answers == expected, "\(crowd.transfers) answers, each to its question")
    }
    checks.expect(threads.ofWorkers == 1, "one thread did it")
    watch.check(checks)
    measure("threads, synchronous calls", threads) {
      checks.expect(crowd.inThreads(threads) == expected, "the same with threads")
    }
    try measure("one thread, the multi interface", threads) {
      checks.expect(try crowd.asynchronously(threads) == expected, "the same with curl_multi")
    }
  }

  /// Each transfer takes three descriptors.
  private static func allowManyDescriptors() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Dispatch
import Testing

@testable import Coroutines

/// Each test looks at schedulers of its own only: others run beside it.
@Suite(.timeLimit(.minutes(30)))
struct RuntimeMetricsTests {
  private func metrics(of name: String) -> [RuntimeMetrics.SchedulerMetrics] {
    RuntimeMetrics().schedulers.filter { $0.name == name }
  }

  @Test
  func `An event loop counts what was launched on it and what has ended`() throws {
    let scheduler = SerialScheduler(name: "metrics, serial")
    let stop = Channel<Void>()
    let waiting = (0..<3).map { _ in launch(on: scheduler) { try stop.receive() } }
    for _ in 0..<5 { try runBlocking { try launch(on: scheduler) {}.join() } }
    let own = try #require(metrics(of: "metrics, serial").first)
    #expect(own.kind == .eventLoop)
    #expect(own.launched == 8)
    // The end is counted after those who wait for it are woken.
    #expect((4...5).contains(own.ended) && own.live == own.launched - own.ended)
    stop.close()
    try runBlocking { for coroutine in waiting { try? coroutine.join() } }
  }

  @Test
  func `Launches on a dispatch queue, and in a pool from outside and inside, are counted`() throws {
    let queue = DispatchQueue(label: "metrics, queue")
    let pool = PoolScheduler(threads: 2, name: "metrics, pool")
    let stop = Channel<Void>()
    try runBlocking {
      let held = [
        launch(on: queue) { try stop.receive() }, launch(on: pool) { try stop.receive() },
        launch(on: pool) {
          launch { try? stop.receive() }
          try stop.receive()
        },
      ]
      try launch(on: queue) {}.join()
      // Here when its child is.
      try launch(on: pool) { launch {} }.join()
      let onQueue = try #require(metrics(of: "metrics, queue").first)
      #expect(onQueue.kind == .dispatchQueue)
      #expect(onQueue.launched == 2)
      let onPool = metrics(of: "metrics, pool")
      #expect(onPool.count == 2 && onPool.allSatisfy { $0.kind == .pool })
      #expect((4...5).contains(onPool.reduce(0) { $0 + $1.launched }))
      #expect(onPool.reduce(0) { $0 + $1.live } >= 2)
      stop.close()
      for coroutine in held { try? coroutine.join() }
    }
  }

  /// In a process of its own: loops are read one after the other, and what is taken over meanwhile would be counted as
  /// ended only.
  @Test
  func `What ended schedulers have counted stays in the sums`() async {
    await #expect(processExitsWith: .success) {
      let before = RuntimeMetrics()
      for _ in 0..<10 { try blocking { try launch {}.join() } }
      let after = RuntimeMetrics()
      #expect(after.launched >= before.launched + 20)
      #expect(after.ended >= before.ended + 20)
      #expect(after.launched >= after.ended)
      #expect(after.stacks.made >= 1 && after.stacks.mappedBytes > 0)
    }
  }

  @Test
  func `Threads for blocking work are told`() throws {
    let metrics = try runBlocking { try offload { RuntimeMetrics().offload } }
    #expect(metrics.threads >= 1 && metrics.threads <= metrics.threadLimit)
  }

  @Test
  func `Prometheus reads each metric with its help and its type before it, and labels escaped`()
    throws
  {
    let scheduler = SerialScheduler(name: "metrics \"quoted\" \\ \n")
    try runBlocking { try launch(on: scheduler) {}.join() }
    let lines = RuntimeMetrics().prometheusText.split(
      separator: "\n",
      omittingEmptySubsequences: false
    )
    #expect(lines.last == "")
    var described: Set<Substring> = []
    var metric: Substring = ""
    for line in lines.dropLast() {
      if line.hasPrefix("# HELP ") {
        metric = line.split(separator: " ")[2]
        #expect(described.insert(metric).inserted)
      } else if line.hasPrefix("# TYPE ") {
        #expect(line.split(separator: " ")[2] == metric)
        #expect(line.hasSuffix("counter") == metric.hasSuffix("_total"))
      } else {
        #expect(line.prefix { $0 != "{" && $0 != " " } == metric)
        #expect(Int(line.split(separator: " ").last ?? "") != nil)
      }
    }
    #expect(described.count == 14)
    #expect(
      lines.contains {
        $0.contains(#"{scheduler="metrics \"quoted\" \\ \n",kind="event_loop",number=""#)
      }
    )
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

/// A queue keeps its scheduler, and coroutines and schedulers keep their queue: no longer than needed.
@Suite struct DispatchLifetimeTests {
  private final class Canary: Sendable {
    let deaths: DispatchSemaphore
    init(_ deaths: DispatchSemaphore) { self.deaths = deaths }
    deinit { deaths.signal() }
  }

  /// A queue that signals when libdispatch frees it.
  private func makeQueue(_ freed: DispatchSemaphore) -> DispatchQueue {
    let queue = DispatchQueue(label: "mortal")
    queue.setSpecific(key: Self.canaryKey, value: Canary(freed))
    return queue
  }
  private static let canaryKey = DispatchSpecificKey<Canary>()

  enum Use: CaseIterable {
    case ends, parks, sleeps, timesOut, isCancelled, startsAtOnce
  }

  @Test func `the last block of a queue that nobody holds may launch`() throws {
    let count = 500
    let ended = DispatchSemaphore(value: 0)
    for _ in 0..<count {
      // Gone for all but libdispatch before its block runs.
      DispatchQueue(label: "short-lived").async {
        launch {
          try Coroutine.yield()
          ended.signal()
        }
      }
    }
    for _ in 0..<count { try #require(ended.wait(timeout: .now() + 300) == .success) }
  }

  @Test(arguments: Use.allCases)
  func `a queue and its scheduler are freed when they are done`(_ use: Use) throws {
    let freed = DispatchSemaphore(value: 0)
    weak var core: SchedulerCore?
    do {
      let queue = makeQueue(freed)
      core = DispatchCore.of(queue)
      try runBlocking {
        let coroutine = launch(on: queue) {
          switch use {
          case .ends: break
          case .parks: try Coroutine.yield()
          case .sleeps: try Coroutine.sleep(for: .milliseconds(1))
          case .timesOut: try? withTimeout(.milliseconds(1)) { try waitForEver() }
          case .isCancelled: try Coroutine.sleep(for: .seconds(1000))
          case .startsAtOnce: try launch(start: .immediately) { try Coroutine.yield() }.join()
          }
        }
        if use == .isCancelled {
          while coroutine.state != .suspended { try Coroutine.yield() }
          coroutine.cancel()
        }
        try coroutine.join()
      }
    }
    #expect(freed.wait(timeout: .now() + 300) == .success)
    // Freed by libdispatch right after the canary.
    let limit = ContinuousClock.now.advanced(by: .seconds(300))
    while core != nil, ContinuousClock.now < limit {}
    #expect(core == nil)
  }

  @Test func `a queue lives as long as a coroutine on it does`() throws {
    let freed = DispatchSemaphore(value: 0)
    let gate = Gate()
    var queue: DispatchQueue? = makeQueue(freed)
    let coroutine = launch(on: try #require(queue)) { try gate.wait() }
    while !gate.hasWaiters {}
    queue = nil
    #expect(freed.wait(timeout: .now()) == .timedOut)
    gate.open()
    try runBlocking { try coroutine.value() }
    #expect(freed.wait(timeout: .now() + 300) == .success)
  }

  @Test func `a scheduler made of a queue keeps it alive, and no longer`() throws {
    let freed = DispatchSemaphore(value: 0)
    do {
      let scheduler = Scheduler.queue(makeQueue(freed))
      #expect(freed.wait(timeout: .now()) == .timedOut)
      #expect(try runBlocking { try launch(on: scheduler) { 4 }.value() } == 4)
    }
    #expect(freed.wait(timeout: .now() + 300) == .success)
  }

  @Test func `homes of freed queues serve event loops, and the other way round`() throws {
    for index in 0..<100 {
      let freed = DispatchSemaphore(value: 0)
      do {
        let queue = makeQueue(freed)
        try runBlocking { try launch(on: queue) { try Coroutine.yield() }.value() }
      }
      #expect(freed.wait(timeout: .now() + 300) == .success)
      let gate = Gate()
      let value = try runBlocking {
        startThread { gate.open() }
        try gate.wait()
        return index
      }
      #expect(value == index)
    }
  }
}

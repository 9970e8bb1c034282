// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct SerialSchedulerTests {
  @Test func `its coroutines run on one thread that is not the caller's`() throws {
    let scheduler = SerialScheduler()
    let threads = try runBlocking {
      let coroutines = (0..<20).map { _ in
        launch(on: scheduler) {
          let before = UInt(pthread_self())
          try Coroutine.sleep(for: .microseconds(200))
          return [before, UInt(pthread_self())]
        }
      }
      return try Set(coroutines.flatMap { try $0.value() })
    }
    #expect(threads.count == 1)
    #expect(!threads.contains(UInt(pthread_self())))
  }

  @Test func `launches inside it stay on it`() throws {
    let scheduler = SerialScheduler(name: "disk")
    let names = try runBlocking {
      try launch(on: scheduler) {
        let inner = try launch { "\(Scheduler.current)" }.value()
        return ["\(Scheduler.current)", inner]
      }.value()
    }
    #expect(names == ["disk", "disk"])
    #expect("\(scheduler)" == "disk")
  }

  @Test func `dropped, it finishes what was launched on it`() throws {
    let ended = Counter()
    let end = DispatchSemaphore(value: 0)
    do {
      let scheduler = SerialScheduler()
      for _ in 0..<10 {
        launch(on: scheduler) {
          try Coroutine.sleep(for: .milliseconds(1))
          if ended.add() == 10 { end.signal() }
        }
      }
    }
    end.wait()
    #expect(ended.value == 10)
  }

  @Test func `a thread, once idle and dropped, ends`() throws {
    // 2,000 threads that did not end would be more than most systems give a process.
    for index in 0..<2_000 {
      let value = try runBlocking { try launch(on: SerialScheduler()) { index }.value() }
      #expect(value == index)
    }
  }

  @Test func `one that never ran anything ends as well`() {
    for _ in 0..<500 { _ = SerialScheduler() }
  }

  @Test func `it can be dropped by its own coroutine`() throws {
    let cell = Cell<SerialScheduler>()
    cell.value = SerialScheduler()
    let coroutine = launch(on: try #require(cell.value)) {
      cell.value = nil
      try Coroutine.yield()
      return 3
    }
    #expect(try runBlocking { try coroutine.value() } == 3)
  }

  @Test func `a child on it keeps running when its parent's loop is done`() throws {
    let gate = Gate()
    let scheduler = SerialScheduler()
    let child = try runBlocking {
      launch(on: scheduler) {
        try gate.wait()
        return 8
      }
    }
    #expect(!child.isFinished)
    gate.open()
    #expect(try runBlocking { try child.value() } == 8)
  }

  @Test func `launches from many threads arrive once each, in each thread's order`() throws {
    let scheduler = SerialScheduler()
    let log = Log()
    let group = DispatchGroup()
    for thread in 0..<4 {
      group.enter()
      startThread {
        for number in 0..<500 { launch(on: scheduler) { log("\(thread) \(number)") } }
        group.leave()
      }
    }
    group.wait()
    try runBlocking { try launch(on: scheduler) {}.join() }
    #expect(log.entries.count == 2_000)
    for thread in 0..<4 {
      let own = log.entries.filter { $0.hasPrefix("\(thread) ") }
      #expect(own == (0..<500).map { "\(thread) \($0)" })
    }
  }

  @Test func `an immediate start from another thread is queued`() throws {
    let scheduler = SerialScheduler()
    try runBlocking {
      let inside = try launch(on: scheduler, start: .immediately) { UInt(pthread_self()) }.value()
      #expect(inside != UInt(pthread_self()))
    }
  }
}

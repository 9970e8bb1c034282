// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import Dispatch
import Foundation
import Testing

/// Blocking work on the pool's threads.
///
/// Serialised, because the pool is one for the process.
@Suite(.serialized) struct OffloadTests {
  @Test(arguments: Elsewhere.allCases)
  func `its value and its errors come back`(place: Elsewhere) throws {
    try runBlocking {
      let work = launch(on: place.schedulers(1)[0]) {
        for value in 0..<100 { try #expect(offload { value + 1 } == value + 1) }
        #expect(throws: Failure(4)) { try offload { throw Failure(4) } }
      }
      try work.value()
    }
  }

  @Test func `the loop is not blocked meanwhile`() throws {
    try runBlocking {
      let gate = DispatchSemaphore(value: 0)
      let blocked = launch {
        try offload {
          gate.wait()
          return 5
        }
      }
      try letOthersRun()
      #expect(blocked.state == .suspended)
      gate.signal()
      try #expect(blocked.value() == 5)
    }
  }

  @Test func `the work runs on another thread, outside any coroutine`() throws {
    try runBlocking {
      let here = UInt(bitPattern: currentThread())
      let (there, isInside) = try offload {
        (UInt(bitPattern: currentThread()), Coroutine.current != nil)
      }
      #expect(here != there)
      #expect(!isInside)
      #expect(throws: CoroutineError.outsideCoroutine) { try offload { try Coroutine.yield() } }
    }
  }

  @Test func `cancelling ends the wait, and the result of running work is dropped`() throws {
    let census = Census()
    try runBlocking {
      let (began, gate) = (Promise<Void>(), DispatchSemaphore(value: 0))
      let ended = Promise<Void>()
      let waiting = launch {
        try offload {
          began.fulfill(())
          gate.wait()
          defer { ended.fulfill(()) }
          return Counted(1, census)
        }
      }
      try began.await()
      waiting.cancel()
      #expect(throws: CancellationError.self) { try waiting.value() }
      gate.signal()
      try ended.await()
      while census.alive > 0 { try Coroutine.yield() }
    }
  }

  @Test func `in cancelled code nothing is begun (rule 2)`() throws {
    try runBlocking {
      let runs = Tally()
      let coroutine = launch {
        Coroutine.current?.cancel()
        #expect(throws: CancellationError.self) { try offload { _ = runs.add() } }
      }
      try coroutine.value()
      #expect(runs.value == 0)
    }
  }

  @Test func `outside a coroutine it throws (rule 12)`() async throws {
    try await onThread {
      #expect(throws: CoroutineError.outsideCoroutine) { try offload { 1 } }
    }
  }

  @Test func `what the work holds on to is released when it is done`() throws {
    let census = Census()
    try runBlocking {
      for value in 0..<50 {
        let held = Counted(value, census)
        try #expect(offload { held.number } == value)
      }
      while census.alive > 0 { try Coroutine.yield() }
    }
  }

  @Test func `the pool keeps to its limit, serves in order, and skips cancelled work (3.5-c9)`()
    async
  {
    // In a process of its own: with one thread, every step is determined.
    await #expect(processExitsWith: .success) {
      OffloadPool.shared.threadLimit = 1
      let order = SharedLog<Int>()
      let (running, most, threads) = (Tally(), SharedLog<Int>(), SharedLog<Int>())
      try await withCoroutine(on: SerialScheduler()) {
        let gate = DispatchSemaphore(value: 0)
        let began = Promise<Void>()
        let first = launch {
          try offload {
            began.fulfill(())
            gate.wait()
          }
        }
        try began.await()
        let waiting = (0..<50).map { index in
          launch {
            try offload {
              most.add(running.add())
              // Seen by one that works: it ends when it has had nothing to do for a while.
              threads.add(OffloadPool.shared.threadCount)
              order.add(index)
              running.add(-1)
            }
          }
        }
        try letOthersRun()
        for index in stride(from: 0, to: 50, by: 5) { waiting[index].cancel() }
        // The waits that were cancelled end, and with them their work is called off.
        try letOthersRun()
        gate.signal()
        try first.value()
        for coroutine in waiting { try coroutine.join() }
      }
      precondition(order.entries == (0..<50).filter { $0 % 5 != 0 }, "\(order.entries)")
      precondition(Set(most.entries) == [1], "\(most.entries)")
      precondition(Set(threads.entries) == [1], "\(threads.entries)")
    }
  }

  @Test(arguments: [2, 4])
  func `no more threads than the limit run at once`(limit: Int) async {
    await #expect(processExitsWith: .success) { [limit] in
      OffloadPool.shared.threadLimit = limit
      let (running, most) = (Tally(), SharedLog<Int>())
      try await withCoroutine(on: SerialScheduler()) {
        let work = (0..<400).map { _ in
          launch {
            try offload {
              most.add(running.add())
              spinWait()
              running.add(-1)
            }
          }
        }
        for coroutine in work { try coroutine.value() }
      }
      precondition((most.entries.max() ?? 0) <= limit)
      precondition(most.entries.count == 400)
      precondition(OffloadPool.shared.threadCount <= limit)
    }
  }

  @Test func `work that blocks gets more threads than there are processors`() async {
    await #expect(processExitsWith: .success) {
      // All of them must run for one of them to end.
      let number = 24
      let threads = SharedLog<Int>()
      try await withCoroutine(on: SerialScheduler()) {
        let (running, end) = (Tally(), DispatchSemaphore(value: 0))
        let work = (0..<number).map { _ in
          launch {
            try offload {
              if running.add() == number {
                threads.add(OffloadPool.shared.threadCount)
                for _ in 0..<number { end.signal() }
              }
              end.wait()
            }
          }
        }
        for coroutine in work { try coroutine.value() }
      }
      precondition(threads.entries == [number])
    }
  }

  @Test func `work waits the longer for one more thread, the less that would help`() {
    let millisecond: Int64 = 1_000_000
    func wait(process: Int64, pool: Int64, on processors: Int = 2) -> Int64 {
      OffloadPool.watchTime(process: process, pool: pool, over: 100, on: processors)
    }
    // Threads block, and a processor is free, or as good as that.
    #expect(wait(process: 0, pool: 0) == millisecond / 4)
    #expect(wait(process: 130, pool: 130) == millisecond / 4)
    #expect(wait(process: 30, pool: 0, on: 1) == millisecond / 4)
    #expect(wait(process: 1530, pool: 1530, on: 16) == millisecond / 4)
    // Others of the process compute.
    #expect(wait(process: 131, pool: 0) == 10 * millisecond)
    #expect(wait(process: 200, pool: 130) == 10 * millisecond)
    #expect(wait(process: 31, pool: 0, on: 1) == 10 * millisecond)
    #expect(wait(process: 1531, pool: 1530, on: 16) == 10 * millisecond)
    // The pool does.
    #expect(wait(process: 131, pool: 131) == 100 * millisecond)
    #expect(wait(process: 400, pool: 200) == 100 * millisecond)
    #expect(wait(process: 100, pool: 31, on: 1) == 100 * millisecond)
  }

  @Test func `a limit below one stops the program (rule 12)`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      OffloadPool.shared.threadLimit = 0
    }
    #expect(result.text.contains("OffloadPool.threadLimit was set to 0"))
  }

  @Test func `many coroutines of many schedulers share the pool`() throws {
    try runBlocking {
      let schedulers = Elsewhere.both.schedulers(4)
      let all = (0..<400).map { index in
        launch(on: schedulers[index % 4], stackSize: .small) {
          let first = try offload { index }
          return try offload { first + 1 }
        }
      }
      try #expect(all.reduce(0) { try $0 + $1.value() } == 400 * 401 / 2)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

/// The system refuses a thread.
///
/// Each test in a process of its own: others start threads too.
@Suite(.timeLimit(.minutes(30))) struct NoThreadTests {
  @Test func `a scheduler without a thread refuses its coroutines, and others go on`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        let channel = Channel<Int>()
        let other = launch {
          var sum = 0
          for number in channel { sum += number }
          return sum
        }
        cck_thread_fail_next(1)
        let scheduler = SerialScheduler()
        for number in 1...10 {
          let refused = launch(on: scheduler) { 1 }
          #expect(throws: CoroutineError.schedulerShutDown) { try refused.value() }
          try channel.send(number)
        }
        channel.close()
        try expect(other.value(), is: 55)
        // The next one has a thread.
        try expect(launch(on: SerialScheduler()) { 2 }.value(), is: 2)
      }
    }
  }

  @Test func `a pool makes do with the threads that it gets`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        cck_thread_fail_next(2)
        let pool = PoolScheduler(threads: 3)
        let values = (0..<100).map { number in launch(on: pool) { number } }
        for (number, value) in values.enumerated() { try expect(value.value(), is: number) }
      }
    }
  }

  @Test func `a pool without any thread refuses its coroutines`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        cck_thread_fail_next(2)
        let pool = PoolScheduler(threads: 2)
        for _ in 0..<5 {
          let refused = launch(on: pool) { 1 }
          #expect(throws: CoroutineError.schedulerShutDown) { try refused.value() }
        }
      }
    }
  }

  @Test func `a scope with a child on a scheduler without a thread ends with the error`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        cck_thread_fail_next(1)
        let scheduler = SerialScheduler()
        #expect(throws: CoroutineError.schedulerShutDown) {
          try withCoroutineScope { scope in
            scope.launch(on: scheduler) {}
            try waitForEver()
          }
        }
        return
      }
    }
  }

  @Test func `without any thread, offloaded work is done on the caller's`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        cck_thread_fail_next(3)
        let thread = UInt(bitPattern: currentThread())
        let workers = (0..<3).map { number in
          launch { try offload { (number, UInt(bitPattern: currentThread()) == thread) } }
        }
        let other = launch { try Coroutine.yield() }
        for (number, worker) in workers.enumerated() {
          let result = try worker.value()
          #expect(result == (number, true))
        }
        try other.value()
        #expect(OffloadPool.shared.threadCount == 0)
        // And with one, not; seen by that one, which ends when it has had nothing to do for a while.
        let (isElsewhere, count) = try offload {
          (UInt(bitPattern: currentThread()) != thread, OffloadPool.shared.threadCount)
        }
        #expect(isElsewhere)
        #expect(count == 1)
      }
    }
  }

  @Test func `work that is done on the caller's thread throws as anywhere`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        cck_thread_fail_next(1)
        #expect(throws: Problem(7)) { try offload { throw Problem(7) } }
        return
      }
    }
  }

  @Test func `with no more threads, those that run do the work of all`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        let began = Promise<Void>()
        let gate = DispatchSemaphore(value: 0)
        let first = launch {
          try offload {
            began.fulfill(())
            gate.wait()
            return 0
          }
        }
        try began.await()
        cck_thread_fail_next(20)
        let counts = SharedLog<Int>()
        let others = (1...20).map { number in
          launch {
            try offload {
              counts.add(OffloadPool.shared.threadCount)
              return number
            }
          }
        }
        // They wait for the one thread; the coroutines of this one go on.
        for _ in 0..<10 { try Coroutine.yield() }
        #expect(others.allSatisfy { $0.state == .suspended })
        #expect(OffloadPool.shared.threadCount == 1)
        gate.signal()
        try expect(first.value(), is: 0)
        try expect(others.map { try $0.value() }, is: Array(1...20))
        #expect(Set(counts.entries) == [1])
      }
    }
  }
}

/// `#expect` for calls that throw, where an exit test's body does not let them.
private func expect<Value: Equatable>(
  _ value: @autoclosure () throws -> Value,
  is expected: Value
) throws {
  let value = try value()
  #expect(value == expected)
}

// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineTestSupport
import Coroutines
import Foundation
import Synchronization
import Testing

#if os(Linux)
import Glibc

/// Threads that run coroutines, and end.
///
/// In processes of their own, because what is counted is the process's.
@Suite(.timeLimit(.minutes(30))) struct ThreadEndTests {
  /// Some work for a thread's scheduler: launches, waits, timers.
  private static func work() {
    let sum = try? runBlocking {
      let coroutines = (0..<3).map { number in
        launch {
          try Coroutine.yield()
          if number == 2 { try Coroutine.sleep(for: .nanoseconds(1)) }
          return number
        }
      }
      return try coroutines.reduce(0) { try $0 + $1.value() }
    }
    precondition(sum == 3)
  }

  /// Bytes of the process that are in memory.
  private static func residentBytes() -> Int {
    let numbers = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return Int(numbers.split(separator: " ").dropFirst().first ?? "").map { $0 * 4096 } ?? 0
  }

  /// A sanitizer keeps records of threads that have ended.
  @Test(.enabled(if: cck_is_instrumented() == 0))
  func `ten thousand threads that have run coroutines leave nothing behind (3.4-6)`() async {
    await #expect(processExitsWith: .success) {
      func run(_ count: Int) {
        for _ in 0..<count / 4 {
          let threads = (0..<4).map { _ in Joinable(ThreadEndTests.work) }
          for thread in threads { thread.join() }
        }
      }
      run(1000)
      let (stacks, bytes) = (cck_stack_statistics(), ThreadEndTests.residentBytes())
      run(10_000)
      let (stacksAfter, bytesAfter) = (cck_stack_statistics(), ThreadEndTests.residentBytes())
      #expect(bytes > 0)
      // A hundred bytes a thread would be too much.
      #expect(bytesAfter - bytes < 1 << 20, "\(bytesAfter - bytes) bytes more")
      // How many were in use at a time depends on the threads' timing; none is lost.
      #expect(stacksAfter.slots_made - stacks.slots_made <= 64)
      #expect(stacksAfter.slots_made == stacksAfter.slots_free)
    }
  }

  @Test(arguments: 0..<5)
  func `threads whose first coroutines start at one moment all give back their stacks (3.4-7)`(
    _ round: Int
  ) async {
    await #expect(processExitsWith: .success) {
      // Nobody in this process has used the library before.
      #expect(cck_stack_statistics().slots_made == 0)
      let count = 32
      let arrived = Counter()
      let threads = (0..<count).map { _ in
        Joinable {
          arrived.add()
          while arrived.value < count { sched_yield() }
          ThreadEndTests.work()
        }
      }
      for thread in threads { thread.join() }
      let statistics = cck_stack_statistics()
      #expect(statistics.slots_made >= 4)
      #expect(statistics.slots_free == statistics.slots_made)
    }
  }
}
#endif

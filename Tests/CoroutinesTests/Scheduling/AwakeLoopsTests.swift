// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import CoroutineTestSupport
import Coroutines
import Testing

/// In processes of their own: the count is of all loops that there are.
@Suite(.timeLimit(.minutes(30)))
struct AwakeLoopsTests {
  @Test
  func `loops at work are awake, those without work sleep after a while, and ended ones are none`()
    async
  {
    await #expect(processExitsWith: .success) {
      #expect(AwakeLoops.count == 0)
      try blocking {
        #expect(AwakeLoops.count == 1)
        let schedulers = (0..<3).map { SerialScheduler(name: "loop \($0)") }
        let begun = Counter()
        let mayEnd = Counter()
        let busy = schedulers.map { scheduler in
          launch(on: scheduler) {
            begun.add()
            while mayEnd.value == 0 { spinWait() }
          }
        }
        while begun.value < busy.count { spinWait() }
        #expect(AwakeLoops.count == 1 + busy.count)
        mayEnd.add()
        // This one is at work.
        while AwakeLoops.count > 1 { spinWait() }
        withExtendedLifetime(schedulers) {}
      }
      while AwakeLoops.count > 0 { spinWait() }
    }
  }

  @Test func `the loops of a pool count, and who waits for them does not`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        let pool = PoolScheduler(threads: 2)
        let seen = try? launch(on: pool) {
          // Whoever waits for this, and the pool's other loop, have nothing to do.
          while AwakeLoops.count > 1 { spinWait() }
          return AwakeLoops.count
        }.value()
        #expect(seen == 1)
      }
      while AwakeLoops.count > 0 { spinWait() }
    }
  }
}

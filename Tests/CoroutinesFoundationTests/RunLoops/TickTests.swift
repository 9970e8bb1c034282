// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct TickTests {
  @Test(arguments: [true, false])
  func `ticks come one after the other (3.4-13)`(_ usesRunLoop: Bool) throws {
    let thread = RunLoopThread()
    try runBlocking {
      let ticks = Timer.co.ticks(
        every: .milliseconds(3),
        on: usesRunLoop ? thread.runLoop : nil,
        capacity: .unbounded
      )
      let times = try (1...4).map { _ in try ticks.receive() }
      #expect(times == times.sorted())
    }
  }

  @Test func `a late receiver finds the last tick`() throws {
    try runBlocking {
      let skipsOld = try succeeds {
        let ticks = Timer.co.ticks(every: .milliseconds(2))
        let first = try ticks.receive()
        try Coroutine.sleep(for: .milliseconds(30))
        _ = try ticks.receive()
        // One was kept, the last. What comes now has come after that, and is none of those in between.
        let third = try ticks.receive()
        return third.timeIntervalSince(first) > 0.015
      }
      #expect(skipsOld)
    }
  }

  @Test(arguments: [true, false])
  func `closing ends the ticks`(_ usesRunLoop: Bool) throws {
    let thread = RunLoopThread()
    try runBlocking {
      let ticks = Timer.co.ticks(
        every: .milliseconds(2),
        on: usesRunLoop ? thread.runLoop : nil
      )
      var count = 0
      for _ in ticks {
        count += 1
        if count == 3 { ticks.close() }
      }
      #expect(count == 3 || count == 4)  // one more may have been kept
      #expect(throws: ChannelError.closed) { _ = try ticks.receive() }
    }
  }

  @Test func `a cancelled wait ends without a tick (rule 3)`() throws {
    try runBlocking {
      let ticks = Timer.co.ticks(every: .seconds(60))
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(5)) { _ = try ticks.receive() }
      }
    }
  }
}

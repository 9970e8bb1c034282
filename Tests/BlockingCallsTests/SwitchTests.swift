// SPDX-License-Identifier: Apache-2.0

import CBlockingCode
import CoroutineKernel
import CoroutineTestSupport
import Coroutines
import CoroutinesBlockingCalls
import Dispatch
import Glibc
import Testing

/// Sleeps for a moment; tells whether another coroutine ran meanwhile.
private func sleepParks() throws -> Bool {
  let other = launch {}
  _ = cbl_usleep(1000)
  let hasRun = other.isFinished
  try other.join()
  return hasRun
}

extension BlockingCallsTests {
  @Suite struct SwitchTests {
    @Test func `nothing parks before it is switched on, and after it is switched off`() throws {
      try runBlocking { () throws -> Void in
        #expect(!BlockingCalls.isEnabled)
        #expect(try sleepParks() == false)
        BlockingCalls.enable()
        #expect(BlockingCalls.isEnabled)
        #expect(try sleepParks())
        BlockingCalls.disable()
        #expect(try sleepParks() == false)
      }
    }

    @Test func `a scope switches it on for its code only, and off inside one that is on`() throws {
      try runBlocking { () throws -> Void in
        try BlockingCalls.withParking { () throws -> Void in
          #expect(try sleepParks())
          try BlockingCalls.withoutParking { () throws -> Void in
            #expect(try sleepParks() == false)
            let isParked = try BlockingCalls.withParking { try sleepParks() }
            #expect(isParked)
          }
          #expect(try sleepParks())
        }
        #expect(try sleepParks() == false)
        BlockingCalls.enable()
        defer { BlockingCalls.disable() }
        let isParked = try BlockingCalls.withoutParking { try sleepParks() }
        #expect(!isParked)
      }
    }

    @Test func `coroutines launched in a scope keep it beyond its end`() throws {
      try runBlocking { () throws -> Void in
        let child = try BlockingCalls.withParking {
          launch { () -> Bool in
            try Coroutine.yield()
            return try sleepParks()
          }
        }
        #expect(try sleepParks() == false)
        #expect(try child.value())
      }
    }

    @Test func `a scope needs a coroutine (rule 12)`() {
      #expect(throws: CoroutineError.outsideCoroutine) { try BlockingCalls.withParking {} }
    }

    @Test func `outside a coroutine nothing changes`() async throws {
      BlockingCalls.enable()
      defer { BlockingCalls.disable() }
      BlockingCalls.resetReport()
      let pair = Pair.sockets()
      let text = await withCheckedContinuation { continuation in
        startKernelThread(named: "plain") {
          _ = cbl_usleep(1000)
          writeText(pair.second, "x")
          continuation.resume(returning: readText(pair.first))
        }
      }
      #expect(text == "x")
      #expect(total("usleep") == (0, 0, 0, 0))
      pair.close()
    }

    @Test func `inside a block of another queue's sync a call blocks instead of parking`() throws {
      let (own, other) = (DispatchQueue(label: "own"), DispatchQueue(label: "other"))
      BlockingCalls.resetReport()
      try runBlocking { () throws -> Void in
        let coroutine = launch(on: own) {
          try BlockingCalls.withParking { () throws -> Void in
            other.sync { _ = cbl_usleep(2000) }
            _ = cbl_usleep(1000)
          }
        }
        try coroutine.join()
      }
      let sites = total("usleep")
      #expect(sites.parked == 1)
      #expect(sites.passed == 1)
      #expect(sites.blocked == 1)
    }
  }
}

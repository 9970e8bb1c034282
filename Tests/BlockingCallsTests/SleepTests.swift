// SPDX-License-Identifier: Apache-2.0

import CBlockingCode
import CoroutineTestSupport
import Coroutines
import CoroutinesBlockingCalls
import CoroutinesTesting
import CoroutineKernel
import Glibc
import Testing

extension BlockingCallsTests {
  @Suite struct SleepTests {
    @Test func `a hundred sleeps of a second are one second of the scheduler's time`() throws {
      let scheduler = TestScheduler()
      try scheduler.run { () throws -> Void in
        try BlockingCalls.withParking { () throws -> Void in
          let clock = CoroutineClock()
          let start = clock.now
          let sleepers = (0..<100).map { _ in launch { cbl_sleep(1) } }
          for sleeper in sleepers { #expect(try sleeper.value() == 0) }
          #expect(start.duration(to: clock.now) == .seconds(1))
        }
      }
    }

    @Test(arguments: Place.allCases)
    func `a hundred sleep at once on one thread`(_ place: Place) throws {
      try place.run { () throws -> Void in
        try BlockingCalls.withParking { () throws -> Void in
          let asleep = Counter()
          let sleepers = (0..<100).map { _ in
            launch { () -> Int32 in
              asleep.add()
              return cbl_usleep(3_600_000_000)
            }
          }
          while asleep.value < 100 { try Coroutine.yield() }
          #expect(sleepers.allSatisfy { $0.state == .suspended })
          for sleeper in sleepers { sleeper.cancel() }
          for sleeper in sleepers { #expect(try sleeper.value() == -EINTR) }
        }
      }
    }

    @Test func `sleeps are no shorter than asked for`() throws {
      try parking { () throws -> Void in
        let clock = ContinuousClock()
        #expect(clock.measure { _ = cbl_usleep(3000) } >= .milliseconds(3))
        #expect(clock.measure { _ = cbl_nanosleep(3_000_000, nil) } >= .milliseconds(3))
        #expect(clock.measure { _ = cbl_sleep_until(3_000_000) } >= .milliseconds(3))
      }
    }

    @Test func `a sleep of no time lets the others run`() throws {
      let log = Log()
      try parking { () throws -> Void in
        let other = launch { log("other") }
        #expect(cbl_usleep(0) == 0)
        log("sleeper")
        try other.join()
      }
      #expect(log.entries == ["other", "sleeper"])
    }

    @Test func `a cancelled sleep is an interrupted one, and tells what is left`() throws {
      try parking { () throws -> Void in
        let second = launch { cbl_sleep(3600) }
        let nano = launch { () -> (Int32, Int64) in
          var left: Int64 = 0
          let result = cbl_nanosleep(3_600_000_000_000, &left)
          return (result, left)
        }
        let micro = launch { cbl_usleep(3_600_000_000) }
        let until = launch { cbl_sleep_until(3_600_000_000_000) }
        try Coroutine.yield()
        second.cancel()
        nano.cancel()
        micro.cancel()
        until.cancel()
        #expect((1...3600).contains(try second.value()))
        let (result, left) = try nano.value()
        #expect(result == -EINTR)
        #expect(left > 0 && left <= 3_600_000_000_000)
        #expect(try micro.value() == -EINTR)
        #expect(try until.value() == EINTR)
      }
    }

    @Test func `who sleeps on after an interruption comes to an end when cancelled (rule 2)`()
      throws
    {
      try parking { () throws -> Void in
        let stubborn = launch { cbl_sleep_stubbornly(3_600_000_000_000) }
        try Coroutine.yield()
        stubborn.cancel()
        #expect(try stubborn.value() == 1)
      }
    }

    @Test func `a signal does not end a parked sleep, and its handler runs`() throws {
      cbl_count_signals()
      let before = cbl_signals()
      try parking { () throws -> Void in
        let sleeper = launch { cbl_nanosleep(20_000_000, nil) }
        try Coroutine.yield()
        cbl_raise()
        #expect(cbl_signals() == before + 1)
        #expect(try sleeper.value() == 0)
      }
    }

    @Test func `outside a coroutine a signal ends a sleep as ever`() async throws {
      cbl_count_signals()
      BlockingCalls.enable()
      defer { BlockingCalls.disable() }
      let result = await withCheckedContinuation { continuation in
        startKernelThread(named: "plain") {
          cbl_bombard()
          let result = cbl_nanosleep(3_600_000_000_000, nil)
          cbl_stop_bombarding()
          continuation.resume(returning: result)
        }
      }
      #expect(result == -EINTR)
    }

    @Test func `a call that succeeds leaves errno as it was`() throws {
      try parking { () throws -> Void in
        let others = launch {
          for _ in 0..<3 {
            errno = EPERM
            try Coroutine.sleep(for: .microseconds(200))
          }
        }
        #expect(cbl_errno_across(ERANGE) == ERANGE)
        try others.join()
      }
    }
  }
}

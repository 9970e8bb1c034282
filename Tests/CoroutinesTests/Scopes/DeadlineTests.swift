// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite struct DeadlineTests {
  @Test func `a deadline that several pieces of work share ends the one it meets (rule 8)`() throws
  {
    let wasInTime = try inTime { margin in
      try runBlocking {
        let deadline = CoroutineClock().now.advanced(by: margin)
        let early = Ending { try withDeadline(deadline) { try Coroutine.yield() } }
        let isInTime = CoroutineClock().now < deadline
        let endings = [
          early,
          Ending { try withDeadline(deadline) { try waitForEver() } },
          Ending { try withDeadline(deadline) { try Coroutine.yield() } },
        ]
        guard isInTime else { return false }
        #expect(endings == [.returned, .timedOut, .timedOut])
        #expect(CoroutineClock().now >= deadline)
        return true
      }
    }
    #expect(wasInTime)
  }

  @Test func `the continuous clock's instants will do`() throws {
    try runBlocking {
      let past = ContinuousClock.now.advanced(by: .seconds(-1))
      let soon = ContinuousClock.now.advanced(by: .milliseconds(1))
      let far = ContinuousClock.now.advanced(by: .seconds(1000))
      #expect(Ending { try withDeadline(past) { try Coroutine.yield() } } == .timedOut)
      #expect(Ending { try withDeadline(soon) { try waitForEver() } } == .timedOut)
      #expect(Ending { try withDeadline(far) { try Coroutine.yield() } } == .returned)
    }
  }

  @Test func `a deadline inside a nearer timeout is not reached (rule 8)`() throws {
    try runBlocking {
      let far = CoroutineClock().now.advanced(by: .seconds(1000))
      var inner: Ending?
      let outer = Ending {
        try withTimeout(.milliseconds(1)) {
          inner = Ending { try withDeadline(far) { try waitForEver() } }
          try Coroutine.checkCancellation()
        }
      }
      #expect(inner == .cancelled)
      #expect(outer == .timedOut)
    }
  }

  @Test func `the error has no limit but says where the deadline was set`() throws {
    let error = try runBlocking {
      #expect(throws: TimeoutError.self) {
        try withDeadline(CoroutineClock().now) { try Coroutine.yield() }
      }
    }
    #expect(error?.limit == nil)
    #expect(error?.description.contains("by its deadline") == true)
    #expect(error?.site.contains("DeadlineTests.swift") == true)
  }

  @Test func `sleeping until a moment wakes no earlier`() throws {
    try runBlocking {
      let moment = CoroutineClock().now.advanced(by: .milliseconds(2))
      try Coroutine.sleep(until: moment)
      #expect(CoroutineClock().now >= moment)
    }
  }

  @Test func `sleeping until a moment that has passed gives up the turn`() throws {
    try runBlocking {
      let log = Log()
      launch { log("other") }
      try Coroutine.sleep(until: CoroutineClock().now.advanced(by: .seconds(-5)))
      log("sleeper")
      #expect(log.entries == ["other", "sleeper"])
    }
  }

  @Test func `instants saturate instead of overflowing`() {
    let now = CoroutineClock().now
    let far = now.advanced(by: .seconds(Int64.max))
    let past = now.advanced(by: .seconds(Int64.min))
    #expect(far > now)
    #expect(past < now)
    #expect(far.advanced(by: .seconds(1)) == far)
    #expect(now.duration(to: now.advanced(by: .milliseconds(3))) == .milliseconds(3))
    #expect(now.advanced(by: .milliseconds(-3)).duration(to: now) == .milliseconds(3))
  }

  @Test func `a duration in nanoseconds loses its fraction, and stays within 292 years`() {
    #expect(Duration.zero.saturatedNanoseconds == 0)
    #expect(Duration.nanoseconds(1).saturatedNanoseconds == 1)
    #expect(
      Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999).saturatedNanoseconds == 1
    )
    #expect(
      Duration(secondsComponent: 0, attosecondsComponent: -1_999_999_999).saturatedNanoseconds == -1
    )
    // Around what 64 bits of attoseconds hold: 18.446744073709551615 s.
    #expect(Duration.nanoseconds(18_446_744_073).saturatedNanoseconds == 18_446_744_073)
    #expect(Duration.nanoseconds(18_446_744_074).saturatedNanoseconds == 18_446_744_074)
    #expect(Duration.seconds(3600).saturatedNanoseconds == 3_600_000_000_000)
    #expect(Duration.seconds(-3600).saturatedNanoseconds == -3_600_000_000_000)
    #expect(Duration.nanoseconds(Int64.max).saturatedNanoseconds == .max)
    #expect(Duration.nanoseconds(Int64.min).saturatedNanoseconds == .min)
    #expect(Duration.seconds(Int64.max).saturatedNanoseconds == .max)
    #expect(Duration.seconds(Int64.min).saturatedNanoseconds == .min)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Coroutines

@Suite struct WakeUpPaceTests {
  private let period: Int64 = 250_000
  private let start: Int64 = 1_000_000_000

  /// A pace that has let a loop wake up so many times at one moment.
  private func pace(after count: Int, at moment: Int64) -> WakeUpPace {
    var pace = WakeUpPace()
    for _ in 0..<count { pace.noteWakeUp(at: moment) }
    return pace
  }

  @Test func `a lone timer is on time`() {
    #expect(WakeUpPace().next(for: 5) == 5)
    #expect(WakeUpPace().next(for: .max) == .max)
    #expect(pace(after: 1, at: start).next(for: start + 1) == start + 1)
  }

  @Test(arguments: 0...8)
  func `so are those that need a few wake-ups in a row`(count: Int) {
    #expect(pace(after: count, at: start).next(for: start) == start)
  }

  @Test(arguments: [9, 10, 20])
  func `in a crowd there is one wake-up a period`(count: Int) {
    let crowded = pace(after: count, at: start)
    let next = start + Int64(count - 8) * period
    #expect(crowded.next(for: start) == next)
    #expect(crowded.next(for: next - 1) == next)
    // What is due later is not put off.
    #expect(crowded.next(for: next + 1) == next + 1)
  }

  @Test func `one that is woken too often sleeps until it is due, or as long as it may`() {
    #expect(WakeUpPace().pause(at: start, atMost: -1) == nil)
    #expect(pace(after: 8, at: start).pause(at: start, atMost: -1) == nil)
    let crowded = pace(after: 9, at: start)
    #expect(crowded.pause(at: start, atMost: -1) == period)
    #expect(crowded.pause(at: start + 1, atMost: .max) == period - 1)
    #expect(crowded.pause(at: start, atMost: 70) == 70)
    #expect(crowded.pause(at: start + period, atMost: -1) == nil)
  }

  @Test func `a loop that has slept for a while is on time again`() {
    var pace = pace(after: 20, at: start)
    let later = start + 20 * period
    for _ in 0..<8 {
      #expect(pace.next(for: later) == later)
      pace.noteWakeUp(at: later)
    }
    #expect(pace.next(for: later) == later)
    pace.noteWakeUp(at: later)
    #expect(pace.next(for: later) == later + period)
  }
}

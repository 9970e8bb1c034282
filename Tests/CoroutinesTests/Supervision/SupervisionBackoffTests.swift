// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct SupervisionBackoffTests {
  /// The waits before so many restarts of a child that fails at once.
  private func delays(_ backoff: RestartBackoff, _ count: Int) throws -> [Duration] {
    let delays = SharedLog<Duration>()
    try runBlocking {
      try withSupervisor(
        intensity: RestartIntensity(1000, within: .seconds(3600)),
        backoff: backoff
      ) { supervisor in
        supervisor.onEvent { if case .restarting(_, let delay) = $0 { delays.add(delay) } }
        var runs = 0
        supervisor.launch(name: "weak", restart: .transient) {
          runs += 1
          if runs <= count { throw Failure(runs) }
        }
        try supervisor.waitForChildren()
      }
    }
    return delays.entries
  }

  @Test func `without one there is no wait`() throws {
    try #expect(delays(.none, 4) == Array(repeating: .zero, count: 4))
  }

  @Test func `it grows with each failure in a row, up to its cap`() throws {
    let backoff = RestartBackoff.exponential(
      from: .microseconds(10),
      to: .microseconds(100),
      resetAfter: .seconds(3600)
    )
    let expected = [10, 20, 40, 80, 100, 100].map { Duration.microseconds($0) }
    try #expect(delays(backoff, 6) == expected)
  }

  @Test func `a child that has run for long enough begins anew`() throws {
    let backoff = RestartBackoff.exponential(
      from: .microseconds(10),
      to: .microseconds(100),
      resetAfter: .zero
    )
    try #expect(delays(backoff, 5) == Array(repeating: .microseconds(10), count: 5))
  }

  @Test func `a seed makes the jitter the same in every run, and within its range`() throws {
    let backoff = RestartBackoff.exponential(
      from: .microseconds(100),
      to: .microseconds(100),
      jitter: 0.5,
      seed: 7,
      resetAfter: .seconds(3600)
    )
    let first = try delays(backoff, 12)
    try #expect(delays(backoff, 12) == first)
    #expect(first.allSatisfy { $0 > .microseconds(50) && $0 <= .microseconds(100) })
    #expect(Set(first).count > 6)
  }

  @Test func `while one child waits, the others are looked after`() throws {
    try runBlocking {
      try withSupervisor(
        backoff: .exponential(from: .seconds(3600), to: .seconds(3600), resetAfter: .zero)
      ) { supervisor in
        let weak = supervisor.launch(name: "weak") { throw Failure(1) }
        try yield { weak.restarts == 0 && supervisor.childCount == 1 }
        let other = supervisor.launch(name: "other", restart: .transient) {}
        try other.join()
        #expect(!weak.isStopped)
        weak.stop()
        try weak.join()
      }
    }
  }

  @Test func `stopping ends a wait of a whole group`() throws {
    try runBlocking {
      let log = SharedLog<String>()
      try withSupervisor(
        strategy: .allForOne,
        backoff: .exponential(from: .seconds(3600), to: .seconds(3600))
      ) { supervisor in
        supervisor.note(in: log)
        supervisor.launch(name: "steady") { try waitForEver() }
        supervisor.launch(name: "weak") { throw Failure(1) }
        try yield { log.entries.contains("restarting weak") }
        try letOthersRun()
      }
      #expect(log.entries.suffix(3) == ["stopped weak", "stopped steady", "ended"])
    }
  }

  @Test func `an impossible back-off stops with a message (rule 12)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = RestartBackoff.exponential(from: .seconds(2), to: .seconds(1))
    }
    #expect(result.text.contains("end no earlier than it begins"))
  }
}

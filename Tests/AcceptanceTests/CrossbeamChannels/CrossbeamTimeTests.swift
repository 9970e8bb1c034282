// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `after`, `tick`, `never`: channels of time, the clause `After`, and channels on which nothing comes.
@Suite(.timeLimit(.minutes(30))) struct CrossbeamTimeTests {
  /// One alarm, or one that rings again and again.
  enum Ringing: CaseIterable, Sendable {
    case once, often

    func channel(_ time: CrossbeamTimeline, _ milliseconds: Int) -> Channel<Duration> {
      switch self {
      case .once: time.alarm(after: .milliseconds(milliseconds))
      case .often: time.ticks(every: .milliseconds(milliseconds))
      }
    }
  }

  // MARK: - fire

  @Test(arguments: Ringing.allCases)
  func `a channel of time has nothing before its time, then the time when it was due`(
    ringing: Ringing
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = ringing.channel(time, 50)
      #expect(channel.receiveIfReady() == .empty)
      try time.pass(.milliseconds(110))
      #expect(channel.receiveIfReady() == .received(.milliseconds(50)))
      #expect(channel.receiveIfReady() == .empty)
      let hasMore = try select {
        Receive(from: channel) { _ in true }
        Default { false }
      }
      #expect(!hasMore)
    }
  }

  @Test func `an alarm that has been received never rings again, so a later time wins`() throws {
    try CrossbeamTimeline.run { time in
      let alarm = time.alarm(after: .milliseconds(50))
      try time.pass(.milliseconds(100))
      _ = try alarm.receive()
      let late = time.alarm(after: .milliseconds(200))
      let fired = try select {
        Receive(from: alarm) { _ in Duration.zero }
        Receive(from: late) { $0 }
      }
      #expect(fired == .milliseconds(300))
    }
  }

  @Test func `ticks that have been received come again, before a later time`() throws {
    try CrossbeamTimeline.run { time in
      let ticks = time.ticks(every: .milliseconds(50))
      try time.pass(.milliseconds(110))
      _ = try ticks.receive()
      let late = time.ticks(every: .milliseconds(200))
      let ticked = try select {
        Receive(from: ticks) { $0 }
        Receive(from: late) { _ in Duration.zero }
      }
      #expect(ticked == .milliseconds(150))
    }
  }

  @Test func `ticks for which nobody has come are one tick, and then they go on`() throws {
    try CrossbeamTimeline.run { time in
      let ticks = time.ticks(every: .milliseconds(50))
      try #expect(ticks.receive() == .milliseconds(50))
      try time.pass(.milliseconds(310))
      #expect(ticks.receiveIfReady() == .received(.milliseconds(100)))
      #expect(ticks.receiveIfReady() == .empty)
      try #expect(ticks.receive() == .milliseconds(400))
      #expect(ticks.receiveIfReady() == .empty)
    }
  }

  // MARK: - capacity, len_empty_full

  @Test(arguments: Ringing.allCases)
  func `a channel of time has room for one, whatever the time`(ringing: Ringing) throws {
    try CrossbeamTimeline.run { time in
      for milliseconds in 1..<10 {
        #expect(ringing.channel(time, milliseconds).capacity == 1)
      }
    }
  }

  @Test(arguments: Ringing.allCases)
  func `a channel of time is empty, then full, then empty again`(ringing: Ringing) throws {
    try CrossbeamTimeline.run { time in
      let channel = ringing.channel(time, 50)
      #expect(channel.count == 0)
      #expect(channel.isEmpty)
      try time.pass(.milliseconds(110))
      #expect(channel.count == 1)
      #expect(!channel.isEmpty)
      _ = try channel.receive()
      #expect(channel.count == 0)
      #expect(channel.isEmpty)
    }
  }

  // MARK: - try_recv, recv, recv_timeout

  @Test(arguments: Ringing.allCases)
  func `who does not wait for a channel of time finds it at its times only`(
    ringing: Ringing
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = ringing.channel(time, 200)
      #expect(channel.receiveIfReady() == .empty)
      try time.pass(.milliseconds(100))
      #expect(channel.receiveIfReady() == .empty)
      try time.pass(.milliseconds(200))
      #expect(channel.receiveIfReady() == .received(.milliseconds(200)))
      #expect(channel.receiveIfReady() == .empty)
      try time.pass(.milliseconds(200))
      #expect(
        channel.receiveIfReady() == (ringing == .once ? .empty : .received(.milliseconds(400)))
      )
      #expect(channel.receiveIfReady() == .empty)
    }
  }

  @Test(arguments: Ringing.allCases)
  func `who waits for a channel of time goes on at its time, not later`(ringing: Ringing) throws {
    try CrossbeamTimeline.run { time in
      let channel = ringing.channel(time, 50)
      try #expect(channel.receive() == .milliseconds(50))
      #expect(time.now == .milliseconds(50))
      #expect(channel.receiveIfReady() == .empty)
    }
  }

  @Test(arguments: Ringing.allCases)
  func `who waits for a channel of time with a limit goes on at what comes first`(
    ringing: Ringing
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = ringing.channel(time, 200)
      func wait(_ milliseconds: Int) throws -> Duration? {
        try select {
          Receive(from: channel) { $0 as Duration? }
          After(.milliseconds(milliseconds)) { nil as Duration? }
        }
      }
      try #expect(wait(100) == nil)
      #expect(time.now == .milliseconds(100))
      try #expect(wait(200) == .milliseconds(200))
      #expect(time.now == .milliseconds(200))
      switch ringing {
      case .once:
        try #expect(wait(200) == nil)
        #expect(time.now == .milliseconds(400))
        #expect(channel.receiveIfReady() == .empty)
      case .often:
        try #expect(wait(100) == nil)
        #expect(time.now == .milliseconds(300))
        try #expect(wait(200) == .milliseconds(400))
        #expect(time.now == .milliseconds(400))
      }
    }
  }

  // MARK: - recv_two, recv_race

  @Test(arguments: Ringing.allCases, 1...10)
  func `two that wait for the same two channels of time both go on`(
    ringing: Ringing,
    seed: UInt64
  ) throws {
    try CrossbeamTimeline.run(order: .random(seed: seed)) { time in
      let (one, other) = (ringing.channel(time, 50), ringing.channel(time, 50))
      let rounds = ringing == .once ? 1 : 10
      let waiting = (0..<2).map { _ in
        launch {
          for _ in 0..<rounds {
            try select {
              Receive(from: one) { _ in }
              Receive(from: other) { _ in }
            }
          }
        }
      }
      for party in waiting { try party.value() }
      #expect(time.now == .milliseconds(50 * rounds))
    }
  }

  @Test(arguments: Ringing.allCases, [false, true])
  func `of two channels of time the nearer one wins, wherever it stands`(
    ringing: Ringing,
    isNearerFirst: Bool
  ) throws {
    try CrossbeamTimeline.run { time in
      let times = isNearerFirst ? [50, 100] : [100, 50]
      let channels = times.map { ringing.channel(time, $0) }
      let winner = try select {
        Receive(from: channels[0]) { _ in 0 }
        Receive(from: channels[1]) { _ in 1 }
      }
      #expect(times[winner] == 50)
      #expect(time.now == .milliseconds(50))
    }
  }

  @Test(arguments: [[50, 100], [100, 50], [100, 50, 70]])
  func `of several After clauses the nearest wins, wherever it stands`(times: [Int]) throws {
    try CrossbeamTimeline.run { time in
      let idle = nobodysChannel()
      let winner = try select {
        After(.milliseconds(times[0])) { 0 }
        After(.milliseconds(times[1])) { 1 }
        Receive(from: idle) { _ in -1 }
        After(.milliseconds(times.count > 2 ? times[2] : 1000)) { 2 }
      }
      #expect(times[winner] == 50)
      #expect(time.now == .milliseconds(50))
    }
  }

  // MARK: - stress_default

  @Test func `an alarm that is due beats Default, one that is not does not`() throws {
    try CrossbeamTimeline.run { time in
      for _ in 0..<10 {
        let due = time.alarm(after: .zero)
        let isDue = try select {
          Receive(from: due) { _ in true }
          Default { false }
        }
        #expect(isDue)
      }
      for _ in 0..<10 {
        let later = time.alarm(after: .milliseconds(100))
        let isDue = try select {
          Receive(from: later) { _ in true }
          Default { false }
        }
        #expect(!isDue)
      }
      #expect(time.now == .zero)
    }
  }

  @Test func `ticks that are due beat Default, those that are not do not`() throws {
    try CrossbeamTimeline.run { time in
      let ticks = time.ticks(every: .milliseconds(10))
      for _ in 0..<10 {
        try time.pass(.milliseconds(15))
        let isDue = try select {
          Receive(from: ticks) { _ in true }
          Default { false }
        }
        #expect(isDue)
        let isDueAgain = try select {
          Receive(from: ticks) { _ in true }
          Default { false }
        }
        #expect(!isDueAgain)
      }
    }
  }

  @Test func `After a time of zero gives way to what is ready, and to Default`() throws {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>(capacity: 1)
      for _ in 0..<50 {
        try channel.send(1)
        let winner = try select {
          After(.zero) { "time" }
          Receive(from: channel) { _ in "value" }
        }
        #expect(winner == "value")
        let other = try select {
          After(.zero) { "time" }
          Receive(from: channel) { _ in "value" }
          Default { "default" }
        }
        #expect(other == "default")
        let last = try select {
          Receive(from: channel) { _ in "value" }
          After(.zero) { "time" }
        }
        #expect(last == "time")
      }
      #expect(time.now == .zero)
    }
  }

  // MARK: - select

  @Test(arguments: 1...10)
  func `four that wait for eight alarms hear each of them once`(seed: UInt64) throws {
    try CrossbeamTimeline.run(order: .random(seed: seed)) { time in
      // Some at the same time, some apart.
      let alarms = (0..<8).map { time.alarm(after: .milliseconds($0 / 3)) }
      let workers = (0..<4).map { _ in
        launch {
          var heard: [Int] = []
          while let number = try select({
            Receive(from: alarms[0]) { _ in 0 as Int? }
            Receive(from: alarms[1]) { _ in 1 as Int? }
            Receive(from: alarms[2]) { _ in 2 as Int? }
            Receive(from: alarms[3]) { _ in 3 as Int? }
            Receive(from: alarms[4]) { _ in 4 as Int? }
            Receive(from: alarms[5]) { _ in 5 as Int? }
            Receive(from: alarms[6]) { _ in 6 as Int? }
            Receive(from: alarms[7]) { _ in 7 as Int? }
            After(.milliseconds(100)) { nil as Int? }
          }) {
            heard.append(number)
          }
          return heard
        }
      }
      let heard = try workers.flatMap { try $0.value() }
      #expect(heard.sorted() == Array(0..<8))
    }
  }

  @Test(arguments: 1...10)
  func `four that wait for ticks of two periods hear eight in eleven tenths of a second`(
    seed: UInt64
  ) throws {
    try CrossbeamTimeline.run(order: .random(seed: seed)) { time in
      let ticks = [200, 300].map { time.ticks(every: .milliseconds($0)) }
      let workers = (0..<4).map { _ in
        launch {
          let end = time.alarm(after: .milliseconds(1100))
          var hits = [0, 0]
          while try select({
            Receive(from: ticks[0]) { _ in
              hits[0] += 1
              return true
            }
            Receive(from: ticks[1]) { _ in
              hits[1] += 1
              return true
            }
            Receive(from: end) { _ in false }
          }) {}
          return hits
        }
      }
      let hits = try workers.map { try $0.value() }
      #expect(hits.map { $0[0] }.reduce(0, +) == 5)
      #expect(hits.map { $0[1] }.reduce(0, +) == 3)
    }
  }

  @Test func `many that look at one alarm: one of them gets it`() throws {
    try runBlocking {
      for round in 0..<100 {
        var spreader = CrossbeamSpreader(.threads)
        let alarm = Channel<Int>(capacity: 1)
        let ringing = spreader.go { alarm.sendIfReady(round) == .sent }
        let looking = (0..<10).map { _ in
          spreader.go {
            var found = 0
            for _ in 0..<20 {
              if case .received = alarm.receiveIfReady() { found += 1 }
              try Coroutine.yield()
            }
            return found
          }
        }
        try #expect(ringing.value())
        var found = try looking.reduce(0) { try $0 + $1.value() }
        // All may have looked too early.
        if case .received = alarm.receiveIfReady() { found += 1 }
        #expect(found == 1)
      }
    }
  }

  // MARK: - fairness, fairness_duplicates

  @Test func `of two alarms that are due each wins its share`() throws {
    try CrossbeamTimeline.run { time in
      var hits = [0, 0]
      for _ in 0..<1000 {
        let alarms = (0..<2).map { _ in time.alarm(after: .zero) }
        try select {
          Receive(from: alarms[0]) { _ in hits[0] += 1 }
          Receive(from: alarms[1]) { _ in hits[1] += 1 }
        }
      }
      #expect(hits.allSatisfy { $0 >= 250 }, "\(hits)")
    }
  }

  @Test(arguments: Ringing.allCases)
  func `of two channels of time with one time each wins sometimes`(ringing: Ringing) throws {
    // Which of two timers of one moment is first is a matter of the order.
    var hits = [0, 0]
    for seed in 1...100 as ClosedRange<UInt64> {
      let share = try CrossbeamTimeline.run(order: .random(seed: seed)) { time in
        var hits = [0, 0]
        var channels = (0..<2).map { _ in ringing.channel(time, 1) }
        for _ in 0..<10 {
          let winner = try select {
            Receive(from: channels[0]) { _ in 0 }
            Receive(from: channels[1]) { _ in 1 }
          }
          hits[winner] += 1
          if ringing == .once { channels = (0..<2).map { _ in ringing.channel(time, 1) } }
        }
        return hits
      }
      hits[0] += share[0]
      hits[1] += share[1]
    }
    #expect(hits.allSatisfy { $0 >= 250 }, "\(hits)")
  }

  /// A time of zero, and one that has to be waited for.
  @Test(arguments: [(Ringing.once, 0), (.once, 1), (.often, 1)])
  func `of five clauses for one channel of time each wins its share`(
    ringing: Ringing,
    milliseconds: Int
  ) throws {
    try CrossbeamTimeline.run { time in
      var hits = [0, 0, 0, 0, 0]
      let ticks = time.ticks(every: .milliseconds(1))
      for _ in 0..<1000 {
        let channel = ringing == .once ? time.alarm(after: .milliseconds(milliseconds)) : ticks
        let winner = try select {
          Receive(from: channel) { _ in 0 }
          Receive(from: channel) { _ in 1 }
          Receive(from: channel) { _ in 2 }
          Receive(from: channel) { _ in 3 }
          Receive(from: channel) { _ in 4 }
        }
        hits[winner] += 1
      }
      #expect(hits.allSatisfy { $0 >= 100 }, "\(hits)")
    }
  }

  @Test func `of two After clauses of one time the first in the text wins`() throws {
    try CrossbeamTimeline.run { _ in
      for delay in [Duration.zero, .milliseconds(1)] {
        for _ in 0..<20 {
          let winner = try select {
            After(delay) { 0 }
            After(delay) { 1 }
          }
          #expect(winner == 0)
        }
      }
    }
  }

  // MARK: - never

  @Test func `beside a channel that nobody has, Default wins`() throws {
    try runBlocking {
      let isReady = try select {
        Receive(from: nobodysChannel()) { _ in true }
        Default { false }
      }
      #expect(!isReady)
    }
  }

  @Test(arguments: [false, true])
  func `a clause is switched off by a channel that nobody has`(isOn: Bool) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: .unbounded)
      try channel.send(1)
      let source: Channel<Int>? = isOn ? channel : nil
      let received = try select {
        Receive(from: source ?? nobodysChannel()) { $0 as Int? }
        Default { nil as Int? }
      }
      #expect(received == (isOn ? 1 : nil))
      #expect(channel.count == (isOn ? 0 : 1))
    }
  }

  @Test func `ticks are switched off after ten`() throws {
    try CrossbeamTimeline.run { time in
      var ticks = time.ticks(every: .milliseconds(100))
      var steps = 0
      while try select({
        Receive(from: ticks) { _ in true }
        After(.milliseconds(500)) { false }
      }) {
        steps += 1
        if steps == 10 { ticks = Channel() }
      }
      #expect(steps == 10)
      #expect(time.now == .milliseconds(1500))
    }
  }

  @Test func `a channel that nobody has is empty and full`() {
    let channel = nobodysChannel()
    #expect(channel.capacity == 0)
    #expect(channel.count == 0)
    #expect(channel.isEmpty)
  }

  @Test func `from a channel that nobody has nothing comes, however long one waits`() throws {
    try CrossbeamTimeline.run { time in
      let channel = nobodysChannel()
      #expect(channel.receiveIfReady() == .empty)
      try time.pass(.milliseconds(100))
      #expect(channel.receiveIfReady() == .empty)
      for round in 1...2 {
        for (part, limit) in CrossbeamLimit.allCases.enumerated() {
          try #expect(limit.receive(from: channel, within: .milliseconds(50)) == .timedOut(nil))
          #expect(time.now == .milliseconds(100 * round + 50 * (part + 1)))
        }
      }
    }
    #expect(throws: Deadlock.self) { try TestScheduler().run { try nobodysChannel().receive() } }
  }
}

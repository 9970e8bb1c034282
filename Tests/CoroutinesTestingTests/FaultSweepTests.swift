// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

private struct Wrong: Error, CustomStringConvertible {
  let description: String
}

@Suite(.timeLimit(.minutes(30))) struct LateTimerTests {
  @Test func `each timer is late once, whatever it belongs to`() throws {
    let sweep = try sweepLateTimers {
      let never = Channel<Void>()
      launch { try Coroutine.sleep(for: .seconds(1)) }
      launch { try? withTimeout(.seconds(2)) { try never.receive() } }
      launch {
        try select {
          Receive(from: never) { _ in }
          After(.seconds(3)) {}
        }
      }
      // Disarmed before its time: it is no place.
      launch { try withTimeout(.seconds(4)) { try Coroutine.yield() } }
    }
    #expect(sweep.places == 3)
  }

  @Test func `a program that orders its coroutines by sleeping is found`() {
    let failure = #expect(throws: SweepFailure.self) {
      try sweepLateTimers {
        let log = Numbers()
        let writers = [1, 2, 3].map { number in
          launch(name: "writer \(number)") {
            try Coroutine.sleep(for: .milliseconds(number))
            log.add(number)
          }
        }
        for writer in writers { try writer.join() }
        guard log.entries == [1, 2, 3] else { throw Wrong(description: "\(log.entries)") }
      }
    }
    #expect(failure?.place == 1)
    #expect((failure?.error as? Wrong)?.description == "[2, 3, 1]")
    let text = "\(failure as Any)"
    #expect(text.contains("With 3600.0 seconds of lateness for timer 1: [2, 3, 1]"))
    #expect(text.contains("3600001 ms"))
  }

  @Test func `the program that waits for what it needs passes`() throws {
    let sweep = try sweepLateTimers {
      let log = Numbers()
      let turns = Sequencer()
      let writers = [1, 2, 3].map { number in
        launch {
          try Coroutine.sleep(for: .milliseconds(number))
          try turns.step(number - 1) { log.add(number) }
        }
      }
      for writer in writers { try writer.join() }
      guard log.entries == [1, 2, 3] else { throw Wrong(description: "\(log.entries)") }
    }
    #expect(sweep.places == 3)
  }

  /// A lease that its holder renews in time, it believes.
  private func renewLease(looksAgain: Bool) throws {
    let clock = CoroutineClock()
    var holders: [String] = []
    var expiry = clock.now.advanced(by: .seconds(10))
    let keeper = launch(name: "keeper") {
      for _ in 0..<3 {
        try Coroutine.sleep(for: .seconds(5))
        if looksAgain, clock.now >= expiry { return }
        expiry = clock.now.advanced(by: .seconds(10))
        holders.append("keeper")
      }
    }
    let taker = launch(name: "taker") {
      while clock.now < expiry { try Coroutine.sleep(until: expiry) }
      holders.append("taker")
    }
    try keeper.join()
    try taker.join()
    if holders.last != "taker" { throw Wrong(description: "two hold the lease") }
  }

  @Test func `a lease that is renewed too late is found, and one that looks again is not`() throws {
    let failure = #expect(throws: SweepFailure.self) {
      try sweepLateTimers(by: .seconds(20)) { try renewLease(looksAgain: false) }
    }
    #expect("\(failure as Any)".contains("two hold the lease"))
    let sweep = try sweepLateTimers(by: .seconds(20)) { try renewLease(looksAgain: true) }
    #expect(sweep.places > 3)
  }

  @Test func `a sleep that a late timeout spares ends, and no earlier than it should`() throws {
    let sweep = try sweepLateTimers(by: .seconds(8)) {
      let start = CoroutineClock().now
      do {
        try withTimeout(.seconds(5)) { try Coroutine.sleep(for: .seconds(6)) }
        guard start.duration(to: CoroutineClock().now) == .seconds(6) else {
          throw Wrong(description: "woke at another time")
        }
      } catch is TimeoutError {
        guard start.duration(to: CoroutineClock().now) == .seconds(5) else {
          throw Wrong(description: "the limit ended it at another time")
        }
      }
    }
    // The limit; and, where that is late, the sleep, whose own lateness is the limit's moment again.
    #expect(sweep.places == 1)
  }
}

@Suite(.timeLimit(.minutes(30))) struct CloseSweepTests {
  @Test func `a value is received or given back, wherever the channel is closed (rule 5)`() throws {
    for capacity in 0...2 {
      let sweep = try sweepCloses { victim in
        let jobs = victim(Channel<Int>(capacity: capacity))
        let (kept, done) = (Numbers(), Numbers())
        let producer = launch {
          for job in 0..<4 {
            do { try jobs.send(job) { kept.add($0) } } catch ChannelError.closed {}
          }
        }
        let consumer = launch { for job in jobs { done.add(job) } }
        try producer.join()
        jobs.close()
        try consumer.join()
        let whole = done.entries + kept.entries
        guard whole == [0, 1, 2, 3] else { throw Wrong(description: "\(whole)") }
      }
      #expect(sweep.places > 0)
    }
  }

  @Test func `a consumer that takes closing for the last value is found`() {
    let failure = #expect(throws: SweepFailure.self) {
      try sweepCloses { victim in
        let numbers = victim(Channel<Int>())
        let producer = launch(name: "producer") {
          for number in 1...3 { try? numbers.send(number) }
          numbers.close()
        }
        let sum = try launch(name: "consumer") { numbers.reduce(0, +) }.value()
        try producer.join()
        if sum != 6 { throw Wrong(description: "a sum of \(sum)") }
      }
    }
    #expect(failure?.place == 1)
    let text = "\(failure as Any)"
    #expect(text.contains("With the channel closed at park point 1: a sum of 0"))
    #expect(text.contains("consumer"))
  }

  @Test func `a server that waits for an answer that cannot come is found`() {
    let failure = #expect(throws: SweepFailure.self) {
      try sweepCloses { victim in
        let questions = victim(Channel<Channel<Int>>())
        launch(name: "server") {
          for question in questions { try question.send(42) }
        }
        let answer = Channel<Int>(name: "answer")
        // Whether it could be sent is not looked at.
        try? questions.send(answer)
        _ = try answer.receive()
        questions.close()
      }
    }
    #expect(failure?.error is Deadlock)
    #expect("\(failure as Any)".contains("channel \"answer\""))
  }

  @Test func `selects and waiting receivers are woken by the close, each once (rule 5)`() throws {
    let sweep = try sweepCloses { victim in
      let (left, right) = (victim(Channel<Int>()), Channel<Int>())
      let ends = Numbers()
      let children = (0..<3).map { number in
        launch {
          do {
            try select {
              Receive(from: left) { _ in }
              Receive(from: right) { _ in }
            }
          } catch ChannelError.closed {}
          ends.add(number)
        }
      }
      // None is left waiting: those that the close did not end get a value.
      try Coroutine.yield()
      for _ in 0..<3 { right.sendIfReady(1) }
      for child in children { try child.join() }
      guard ends.entries.sorted() == [0, 1, 2] else {
        throw Wrong(description: "\(ends.entries)")
      }
    }
    #expect(sweep.places >= 3)
  }

  @Test func `without a victim there is no place`() throws {
    let sweep = try sweepCloses { _ in try Coroutine.yield() }
    #expect(sweep.places == 0)
  }
}

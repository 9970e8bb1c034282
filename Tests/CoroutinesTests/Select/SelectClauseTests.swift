// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// What each kind of clause does, and what a select returns.
@Suite struct SelectClauseTests {
  @Test func `a ready receive wins and its action gets the value`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      let other = Channel<String>()
      try channel.send(7)
      let text = try select {
        Receive(from: other) { $0 }
        Receive(from: channel) { "\($0)" }
      }
      #expect(text == "7")
      #expect(channel.isEmpty)
    }
  }

  @Test func `a ready send wins and its action runs after it`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      let count = try select {
        Receive(from: Channel<Int>()) { $0 }
        Send(5, to: channel) { channel.count }
      }
      #expect(count == 1)
      try #expect(channel.receive() == 5)
    }
  }

  @Test func `a parked select is woken by a sender`() throws {
    try runBlocking {
      let (one, other) = (Channel<Int>(), Channel<String>())
      let selecting = launch {
        try select {
          Receive(from: one) { "number \($0)" }
          Receive(from: other) { "text \($0)" }
        }
      }
      try letOthersRun()
      #expect(selecting.state == .suspended)
      try other.send("b")
      try #expect(selecting.value() == "text b")
      #expect(one.sendIfReady(1) == .full(1))
    }
  }

  @Test func `a parked select is woken by a receiver`() throws {
    try runBlocking {
      let (one, other) = (Channel<Int>(), Channel<Int>())
      let selecting = launch {
        try select {
          Send(1, to: one) { "one" }
          Send(2, to: other) { "other" }
        }
      }
      try letOthersRun()
      try #expect(other.receive() == 2)
      try #expect(selecting.value() == "other")
      #expect(one.receiveIfReady() == .empty)
    }
  }

  @Test func `the winner's partner runs after the winner's action`() throws {
    let steps = Steps<String>()
    try runBlocking {
      let channel = Channel<Int>()
      launch {
        try channel.send(1)
        steps.add("sender")
      }
      try letOthersRun()
      try select { Receive(from: channel) { _ in steps.add("action") } }
    }
    #expect(steps.entries == ["action", "sender"])
  }

  @Test func `Default wins when nothing else can happen, without parking`() throws {
    try runBlocking {
      let steps = Steps<Int>()
      launch { steps.add(2) }
      let channel = Channel<Int>()
      let value = try select {
        Receive(from: channel) { $0 }
        Send(1, to: channel) { 2 }
        Default { 3 }
      }
      steps.add(1)
      #expect(value == 3)
      try letOthersRun()
      #expect(steps.entries == [1, 2])
    }
  }

  @Test func `Default loses to whatever is ready`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      for round in 0..<100 {
        try channel.send(round)
        let value = try select {
          Default { -1 }
          Receive(from: channel) { $0 }
        }
        #expect(value == round)
      }
    }
  }

  @Test func `a select with a Default works outside a coroutine`() async throws {
    try await onThread {
      let channel = Channel<Int>(capacity: 1)
      func attempt() throws -> Int {
        try select {
          Receive(from: channel) { $0 }
          Default { -1 }
        }
      }
      try #expect(attempt() == -1)
      channel.sendIfReady(4)
      try #expect(attempt() == 4)
    }
  }

  @Test func `a select that would park throws outside a coroutine, and drops its values`()
    async throws
  {
    let census = Census()
    try await onThread {
      let channel = Channel<Counted>(capacity: 1)
      let error = #expect(throws: CoroutineError.outsideCoroutine) {
        try select { Send(Counted(1, census), to: channel) }
      }
      #expect(error?.description.hasPrefix("select parks the coroutine") == true)
      #expect(channel.isEmpty)
    }
    #expect(census.alive == 0)
  }

  @Test func `After wins when nothing else has happened`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let clock = CoroutineClock()
      let start = clock.now
      let text = try select {
        Receive(from: channel) { "\($0)" }
        After(.milliseconds(2)) { "late" }
        After(.seconds(100)) { "later" }
      }
      #expect(text == "late")
      #expect(start.duration(to: clock.now) >= .milliseconds(2))
      #expect(channel.sendIfReady(1) == .full(1))
    }
  }

  @Test func `After loses to a value that comes in time`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let selecting = launch {
        try select {
          Receive(from: channel) { $0 }
          After(.seconds(100)) { -1 }
        }
      }
      try letOthersRun()
      try channel.send(3)
      try #expect(selecting.value() == 3)
    }
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `After with no time left is a Default`(delay: Duration) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      let poll = {
        try select {
          Receive(from: channel) { $0 }
          After(delay) { -1 }
        }
      }
      try #expect(poll() == -1)
      try channel.send(2)
      try #expect(poll() == 2)
    }
  }

  @Test func `a select with nothing but After sleeps`() throws {
    try runBlocking {
      let value = try select { After(.milliseconds(1)) { 1 } }
      #expect(value == 1)
    }
  }

  @Test func `what the action throws comes out of the select`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      try channel.send(1)
      #expect(throws: Failure(9)) {
        try select { Receive(from: channel) { _ in throw Failure(9) } }
      }
      #expect(throws: Failure(8)) { try select { Default { throw Failure(8) } } }
    }
  }

  @Test func `an action may park and select again`() throws {
    try runBlocking {
      let (one, other) = (Channel<Int>(), Channel<Int>())
      let selecting = launch {
        try select {
          Receive(from: one) { first in
            try Coroutine.yield()
            return try select {
              Receive(from: one) { first * 100 + $0 }
              Receive(from: other) { first * 10 + $0 }
            }
          }
          Receive(from: other) { $0 }
        }
      }
      try letOthersRun()
      try one.send(4)
      try other.send(2)
      try #expect(selecting.value() == 42)
    }
  }

  @Test func `the ends of channels stand in clauses too`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      let sent: Bool = try select { Send(1, to: channel.sendEnd) { true } }
      let value = try select { Receive(from: channel.receiveEnd) { $0 } }
      #expect(sent && value == 1)
    }
  }

  @Test func `big values and vectors go through a select`() throws {
    typealias Big = (Int, SIMD16<Double>, String)
    try runBlocking {
      let (one, other) = (Channel<Big>(), Channel<UInt8>())
      let selecting = launch {
        try select {
          Receive(from: other) { _ in 0.0 }
          Receive(from: one) { $0.1[3] + Double($0.0 + $0.2.count) }
        }
      }
      let sender = launch {
        try select {
          Send(1, to: Channel<UInt8>())
          Send((1, SIMD16(repeating: 0.5), "text"), to: one)
        }
      }
      try #expect(selecting.value() == 5.5)
      try sender.value()
    }
  }

  @Test func `two Defaults stop the program (rule 12)`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try await withCoroutine {
        try select {
          Default {}
          Default {}
        }
      }
    }
    #expect(result.text.contains("A select has 2 Default clauses"))
  }
}

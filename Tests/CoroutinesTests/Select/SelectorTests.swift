// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Selects that are put together while the program runs.
@Suite struct SelectorTests {
  @Test(arguments: [1, 2, 8, 9, 100])
  func `each value of an array of channels is received once`(count: Int) throws {
    try runBlocking {
      let channels = (0..<count).map { _ in Channel<Int>() }
      for (number, channel) in channels.enumerated() {
        launch { for round in 0..<3 { try channel.send(round * count + number) } }
      }
      var selector = Selector<Int>()
      for (number, channel) in channels.enumerated() {
        selector.receive(from: channel) {
          #expect($0 % count == number)
          return $0
        }
      }
      #expect(selector.count == count)
      var received: [Int] = []
      for _ in 0..<(3 * count) {
        try received.append(selector.select())
        #expect(selector.winner == (received.last ?? 0) % count)
      }
      #expect(received.sorted() == Array(0..<(3 * count)))
    }
  }

  @Test func `clauses that are ready win about as often as each other`() throws {
    try runBlocking {
      let channels = (0..<12).map { _ in Channel<Void>(capacity: 1) }
      var wins = [Int](repeating: 0, count: 12)
      var selector = Selector<Void>()
      for channel in channels { selector.receive(from: channel) {} }
      for _ in 0..<12_000 {
        for channel in channels { channel.sendIfReady(()) }
        try selector.select()
        wins[selector.winner ?? 0] += 1
      }
      // Of 1,000 each; the standard deviation is 30.
      #expect(wins.allSatisfy { (700...1300).contains($0) }, "\(wins)")
    }
  }

  @Test func `channels leave as they close, and the loop ends`() throws {
    try runBlocking {
      let channels = (0..<20).map { _ in Channel<Int>(capacity: 2) }
      for (number, channel) in channels.enumerated() {
        launch {
          for value in 0..<number { try channel.send(value) }
          channel.close()
        }
      }
      var selector = Selector<Int?>()
      for channel in channels { selector.receive(from: channel, whenClosed: { nil }) { $0 } }
      var values = 0
      while !selector.isEmpty {
        if try selector.select() == nil { selector.removeWinner() } else { values += 1 }
      }
      #expect(values == 20 * 19 / 2)
    }
  }

  @Test func `a value to send is asked for anew, and released if another clause wins`() throws {
    let census = Census()
    try runBlocking {
      let (full, ready) = (Channel<Counted>(), Channel<Int>(capacity: 1))
      var made = 0
      func make() -> Counted {
        made += 1
        return Counted(made, census)
      }
      var selector = Selector<String>()
      selector.send(make(), to: full) { "sent" }
      selector.receive(from: ready) { "\($0)" }
      #expect(made == 0)
      for number in 0..<10 {
        ready.sendIfReady(number)
        try #expect(selector.select() == "\(number)")
        #expect(census.alive == 0)
      }
      let receiving = launch { try full.receive().number }
      try #expect(selector.select() == "sent")
      #expect(made == 11)
      try #expect(receiving.value() == 11)
    }
    #expect(census.alive == 0)
  }

  @Test func `what a dropping channel pushes out is released`() throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>(capacity: .droppingOldest(1))
      var number = 0
      var selector = Selector<Void>()
      selector.send(
        {
          number += 1
          return Counted(number, census)
        }(),
        to: channel
      ) {}
      for _ in 0..<5 { try selector.select() }
      #expect(census.alive == 1)
      try #expect(channel.receive().number == 5)
    }
    #expect(census.alive == 0)
  }

  @Test func `a closed channel is an error unless the clause says what to do`() throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>()
      channel.close()
      var receiving = Selector<Void>()
      receiving.receive(from: channel) { _ in }
      #expect(throws: ChannelError.self) { try receiving.select() }
      var sending = Selector<Void>()
      sending.send(Counted(1, census), to: channel) {}
      #expect(throws: ChannelError.self) { try sending.select() }
      #expect(census.alive == 0)
      #expect(sending.winner == 0)
    }
  }

  @Test func `the default clause wins when no other is ready, on any thread`() async throws {
    try await onThread {
      let channel = Channel<Int>(capacity: 1)
      var selector = Selector<Int>()
      selector.default { -1 }
      selector.receive(from: channel) { $0 }
      try #expect(selector.select() == -1)
      #expect(selector.winner == 0)
      channel.sendIfReady(4)
      try #expect(selector.select() == 4)
    }
  }

  @Test func `without a default clause it throws outside a coroutine, and keeps no value`()
    async throws
  {
    let census = Census()
    try await onThread {
      var selector = Selector<Void>()
      selector.send(Counted(1, census), to: Channel()) {}
      let error = #expect(throws: CoroutineError.outsideCoroutine) { try selector.select() }
      #expect(error?.description.hasPrefix("select parks the coroutine") == true)
      #expect(census.alive == 0)
    }
  }

  @Test func `a time is counted from when each select begins`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      var selector = Selector<Int>()
      selector.receive(from: channel) { $0 }
      selector.after(.milliseconds(2)) { -1 }
      selector.after(.seconds(100)) { -2 }
      let clock = CoroutineClock()
      for _ in 0..<3 {
        let start = clock.now
        try #expect(selector.select() == -1)
        #expect(start.duration(to: clock.now) >= .milliseconds(2))
      }
    }
  }

  @Test func `cancelled, it throws, and no clause takes effect`() throws {
    let census = Census()
    try runBlocking {
      let (one, other) = (Channel<Counted>(), Channel<Counted>())
      let selecting = launch {
        var selector = Selector<Void>()
        selector.send(Counted(1, census), to: one) { Issue.record("sent") }
        selector.receive(from: other) { _ in Issue.record("received") }
        try selector.select()
      }
      try letOthersRun()
      selecting.cancel()
      #expect(throws: CancellationError.self) { try selecting.value() }
      if case .received = one.receiveIfReady() { Issue.record("a value was sent") }
      #expect(census.alive == 0)
    }
  }

  @Test func `clauses can be removed and added between selects`() throws {
    try runBlocking {
      let channels = (0..<6).map { _ in Channel<Int>(capacity: 1) }
      var selector = Selector<Int>()
      for number in 0..<6 { selector.receive(from: channels[number]) { 10 * number + $0 } }
      selector.default { -1 }
      selector.remove(at: 0)
      selector.remove(at: 2)
      #expect(selector.count == 5)
      for channel in channels { channel.sendIfReady(1) }
      let received = try (0..<5).map { _ in try selector.select() }
      #expect(received.sorted() == [-1, 11, 21, 41, 51])
      // The default clause has moved up, too.
      try #expect(selector.select() == -1)
      #expect(selector.winner == 4)
      selector.remove(at: 1)
      #expect(selector.winner == 3)
      selector.removeWinner()
      #expect(selector.winner == nil)
      selector.default { -2 }
      try #expect(selector.select() == -2)
      selector.receive(from: channels[0]) { $0 }
      #expect(try selector.select() == 1)
    }
  }

  @Test func `a clause keeps its channel, and its end counts as there`() throws {
    weak var held: Channel<Int>?
    try runBlocking {
      var selector = Selector<Int>()
      let (sendEnd, receiveEnd) = Channel<Int>.makeEnds()
      func add() {
        let channel = Channel<Int>()
        held = channel
        selector.receive(from: channel) { $0 }
        selector.send(5, to: sendEnd) { -5 }
      }
      add()
      #expect(held != nil)
      let receiving = launch { try receiveEnd.receive() }
      try #expect(selector.select() == -5)
      try #expect(receiving.value() == 5)
      selector.remove(at: 0)
      #expect(held == nil)
    }
  }

  @Test func `the last end's clause closes the channel when it is removed`() throws {
    try runBlocking {
      var selector = Selector<Int>()
      func add() -> ReceiveEnd<Int> {
        let (sendEnd, receiveEnd) = Channel<Int>.makeEnds()
        selector.send(5, to: sendEnd) { -5 }
        return receiveEnd
      }
      let receiveEnd = add()
      #expect(!receiveEnd.isClosed)
      selector.remove(at: 0)
      #expect(receiveEnd.isClosed)
    }
  }
}

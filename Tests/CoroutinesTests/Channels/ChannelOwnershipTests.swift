// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// A value bigger than a cache line, with parts that are counted.
private struct Big {
  var numbers: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
  let first: Counted
  let second: Counted

  init(_ number: Int, _ census: Census) {
    let word = UInt64(number)
    numbers = (word, word, word, word, word, word, word, word, ~word)
    first = Counted(number, census)
    second = Counted(-number, census)
  }

  var isIntact: Bool {
    numbers.0 == UInt64(first.number) && numbers.8 == ~numbers.0 && second.number == -first.number
  }
}

@Suite struct ChannelOwnershipTests {
  @Test(arguments: allCapacities)
  func `a channel that goes away releases what it keeps`(capacity: ChannelCapacity) throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>(capacity: capacity)
      let kept = min(channel.capacity, 100)
      // Half way round the ring first, so that what is kept wraps.
      for value in 0..<(kept / 2) { try channel.send(Counted(value, census)) }
      for _ in 0..<(kept / 2) { _ = try channel.receive() }
      for value in 0..<kept { try channel.send(Counted(value, census)) }
      #expect(census.alive == kept)
    }
    #expect(census.alive == 0)
  }

  @Test(arguments: allCapacities)
  func `every value that is received is released once`(capacity: ChannelCapacity) throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>(capacity: capacity)
      launch {
        for value in 0..<1_000 { try channel.send(Counted(value, census)) }
        channel.close()
      }
      var next = 0
      for value in channel {
        #expect(value.number == next)
        next += 1
      }
      #expect(next == 1_000)
      #expect(census.alive == 0)
    }
  }

  @Test(arguments: limitedCapacities)
  func `values of senders that closing wakes are released`(capacity: Int) throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>(capacity: capacity)
      let senders = (0..<(capacity + 10)).map { value in
        launch { try channel.send(Counted(value, census)) }
      }
      try letOthersRun()
      #expect(census.alive == capacity + 10)
      channel.close()
      for sender in senders { try sender.join() }
      #expect(census.alive == capacity)
      for _ in channel {}
      #expect(census.alive == 0)
    }
  }

  @Test(arguments: allCapacities)
  func `big values arrive whole`(capacity: ChannelCapacity) throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Big>(capacity: capacity)
      launch {
        for value in 0..<500 { try channel.send(Big(value, census)) }
        channel.close()
      }
      for value in channel { #expect(value.isIntact) }
    }
    #expect(census.alive == 0)
  }

  @Test(arguments: allCapacities)
  func `vectors arrive at addresses that suit them`(capacity: ChannelCapacity) throws {
    try runBlocking {
      let channel = Channel<(UInt8, SIMD16<Double>)>(capacity: capacity)
      launch {
        for value in 0..<100 {
          try channel.send((UInt8(value), SIMD16(repeating: Double(value))))
        }
        channel.close()
      }
      var sum = 0.0
      for (small, vector) in channel {
        #expect(vector == SIMD16(repeating: Double(small)))
        sum += vector[7]
      }
      #expect(sum == 4_950)
    }
  }

  @Test func `existentials, enums with payloads and closures travel`() throws {
    enum Message {
      case text(String)
      case work(() -> Int)
      case failed(any Error)
    }
    try runBlocking {
      let channel = Channel<Message>()
      launch {
        try channel.send(.text("hello"))
        let base = 40
        try channel.send(.work { base + 2 })
        try channel.send(.failed(Failure(3)))
        channel.close()
      }
      var seen: [String] = []
      for message in channel {
        switch message {
        case .text(let text): seen.append(text)
        case .work(let work): seen.append("\(work())")
        case .failed(let error): seen.append("\((error as? Failure)?.code ?? -1)")
        }
      }
      #expect(seen == ["hello", "42", "3"])
    }
  }

  @Test func `a channel sent through itself comes out again`() throws {
    final class Letter {
      let channel: Channel<Letter>
      init(_ channel: Channel<Letter>) { self.channel = channel }
    }
    try runBlocking {
      let channel = Channel<Letter>(capacity: 1)
      try channel.send(Letter(channel))
      let letter = try channel.receive()
      #expect(letter.channel === channel)
    }
  }

  @Test func `a dropped value whose deinit uses the channel does not lock up`() throws {
    final class Echo {
      let channel: Channel<Int>
      init(_ channel: Channel<Int>) { self.channel = channel }
      deinit { channel.sendIfReady(1) }
    }
    try runBlocking {
      let echoes = Channel<Int>(capacity: .unbounded)
      let latest = Channel<Echo>(capacity: .conflated)
      for _ in 0..<5 { try latest.send(Echo(echoes)) }
      #expect(echoes.count == 4)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Values in send clauses: sent, or released, and once.
@Suite struct SelectOwnershipTests {
  @Test func `the value of a losing clause is released once`() throws {
    let census = Census()
    try runBlocking {
      let full = Channel<Counted>()
      let ready = Channel<Int>(capacity: 1)
      try ready.send(1)
      try select {
        Send(Counted(1, census), to: full)
        Receive(from: ready) { _ in }
      }
      #expect(census.alive == 0)
    }
  }

  /// Eight plain bytes are moved as a word, all else by a function that knows the type.
  @Test func `a value of any size arrives as it was sent, and once`() throws {
    struct Bytes: Equatable {
      var all: (UInt32, UInt8, UInt8, UInt16) = (0x0102_0304, 5, 6, 0x0708)
      static func == (one: Bytes, other: Bytes) -> Bool { one.all == other.all }
    }
    try runBlocking {
      try #expect(sentAndReceived(-0.1) == -0.1)
      try #expect(sentAndReceived(Bytes()) == Bytes())
      try #expect(sentAndReceived(UInt8(200)) == 200)
      try #expect(sentAndReceived(Int?.some(.min)) == .min)
      try #expect(sentAndReceived([1, 2]) == [1, 2])
      try #expect(sentAndReceived("longer than fifteen bytes") == "longer than fifteen bytes")
      let census = Census()
      try #expect(sentAndReceived(Counted(3, census)).number == 3)
      #expect(census.alive == 0)
    }
  }

  /// By selects on both sides: into the buffer and out of it, and from one that waits.
  private func sentAndReceived<Value>(_ value: Value) throws -> Value {
    let (kept, met) = (Channel<Value>(capacity: 1), Channel<Value>())
    nonisolated(unsafe) let value = value
    try select { Send(value, to: kept) }
    let receiver = launch { try select { Receive(from: met) { $0 } } }
    try letOthersRun()
    nonisolated(unsafe) let first = try select { Receive(from: kept) { $0 } }
    try select { Send(first, to: met) }
    return try receiver.value()
  }

  @Test func `of two values one is sent and the other released`() throws {
    let census = Census()
    try runBlocking {
      let (one, other) = (Channel<Counted>(capacity: 1), Channel<Counted>(capacity: 1))
      for _ in 0..<50 {
        try select {
          Send(Counted(1, census), to: one)
          Send(Counted(2, census), to: other)
        }
        #expect(census.alive == 1)
        #expect(one.count + other.count == 1)
        _ = (one.receiveIfReady(), other.receiveIfReady())
        #expect(census.alive == 0)
      }
    }
  }

  @Test func `a parked select hands one value over and releases the other`() throws {
    let census = Census()
    try runBlocking {
      let (one, other) = (Channel<Counted>(), Channel<Counted>())
      let selecting = launch {
        try select {
          Send(Counted(1, census), to: one)
          Send(Counted(2, census), to: other)
        }
      }
      try letOthersRun()
      #expect(census.alive == 2)
      try #expect(other.receive().number == 2)
      try selecting.value()
      #expect(census.alive == 0)
    }
  }

  @Test func `what a dropping channel pushes out is released`() throws {
    let census = Census()
    try runBlocking {
      let (oldest, newest) = (
        Channel<Counted>(capacity: .droppingOldest(1)),
        Channel<Counted>(capacity: .droppingNewest(1))
      )
      for value in 0..<5 {
        try select { Send(Counted(value, census), to: oldest) }
        try select { Send(Counted(value, census), to: newest) }
      }
      #expect(census.alive == 2)
      try #expect(oldest.receive().number == 4)
      try #expect(newest.receive().number == 0)
    }
    #expect(census.alive == 0)
  }

  @Test func `Default releases what was not sent, before its action runs`() throws {
    let census = Census()
    let channel = Channel<Counted>()
    func sendOrNot() throws {
      let alive = try select {
        Send(Counted(1, census), to: channel) { 0 }
        Default { census.alive }
      }
      #expect(alive == 0)
    }
    try runBlocking { try sendOrNot() }
    // The channel's lock is the loop's that is over, and nobody's turn goes on here.
    try sendOrNot()
  }

  @Test func `a received value is the action's, and is released after it`() throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>(capacity: 1)
      try channel.send(Counted(1, census))
      let number = try select {
        Receive(from: channel) { value in
          #expect(census.alive == 1)
          return value.number
        }
      }
      #expect(number == 1)
      #expect(census.alive == 0)
    }
  }

  @Test func `a sent value is not kept by the select while its action parks`() throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>()
      let gate = Channel<Void>()
      let selecting = launch {
        try select { Send(Counted(1, census), to: channel) { try gate.receive() } }
      }
      try letOthersRun()
      try #expect(channel.receive().number == 1)
      try letOthersRun()
      #expect(selecting.state == .suspended)
      #expect(census.alive == 0)
      try gate.send(())
      try selecting.value()
    }
  }

  @Test func `optional values may be nil`() throws {
    try runBlocking {
      let channel = Channel<Int?>(capacity: 2)
      try select { Send(nil, to: channel) }
      try select { Send(1, to: channel) }
      try #expect(channel.receiveAll() == [nil, 1])
      let received = launch { try select { Receive(from: channel) { $0 } } }
      try letOthersRun()
      try select { Send(nil, to: channel) }
      try #expect(received.value() == nil)
    }
  }
}

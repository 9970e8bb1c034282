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

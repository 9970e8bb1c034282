// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

@Suite struct SelectClosingTests {
  @Test func `a closed channel makes its receive ready, and the select throws`() throws {
    try runBlocking {
      let (closed, other) = (Channel<Int>(), Channel<Int>())
      closed.close()
      #expect(throws: ChannelError.closed) {
        try select {
          Receive(from: closed) { $0 }
          Receive(from: other) { $0 }
        }
      }
    }
  }

  @Test func `whenClosed runs in place of the action`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      try channel.send(1)
      channel.close()
      var values: [Int] = []
      for _ in 0..<3 {
        values.append(try select { Receive(from: channel, whenClosed: { -1 }) { $0 } })
      }
      #expect(values == [1, -1, -1])
    }
  }

  @Test func `closing wakes a parked select once (rule 5)`() throws {
    try runBlocking {
      let (one, other) = (Channel<Int>(), Channel<Int>())
      let silent = launch {
        try select {
          Receive(from: one, whenClosed: { "closed" }) { "\($0)" }
          Receive(from: other) { "\($0)" }
        }
      }
      let throwing = launch {
        try select {
          Receive(from: other) { "\($0)" }
          Receive(from: one) { "\($0)" }
        }
      }
      try letOthersRun()
      one.close()
      try #expect(silent.value() == "closed")
      #expect(throws: ChannelError.closed) { try throwing.value() }
      #expect(other.sendIfReady(1) == .full(1))
    }
  }

  @Test func `a send clause on a closed channel throws and releases its value`() throws {
    let census = Census()
    try runBlocking {
      let (closed, open) = (Channel<Counted>(), Channel<Int>())
      closed.close()
      #expect(throws: ChannelError.closed) {
        try select {
          Send(Counted(1, census), to: closed)
          Receive(from: open) { _ in }
        }
      }
      #expect(census.alive == 0)
      let parked = Channel<Counted>()
      let sender = launch { try select { Send(Counted(2, census), to: parked) } }
      try letOthersRun()
      #expect(census.alive == 1)
      parked.close()
      #expect(throws: ChannelError.closed) { try sender.value() }
      #expect(census.alive == 0)
    }
  }

  @Test func `one channel in several clauses closes for one of them only`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      var closings = 0
      let selecting = launch {
        try select {
          Receive(from: channel, whenClosed: { closings += 1 }) { _ in }
          Receive(from: channel, whenClosed: { closings += 1 }) { _ in }
          Receive(from: channel, whenClosed: { closings += 1 }) { _ in }
        }
      }
      try letOthersRun()
      channel.close()
      try selecting.value()
      #expect(closings == 1)
    }
  }

  @Test func `Default loses to a closed channel`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      channel.close()
      let value = try select {
        Receive(from: channel, whenClosed: { 1 }) { $0 }
        Default { 2 }
      }
      #expect(value == 1)
    }
  }
}

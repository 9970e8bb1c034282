// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Rule 3: of a cancelled select, no clause takes effect.
@Suite struct SelectCancellationTests {
  @Test func `cancelling a parked select leaves its channels as before (rule 3)`() throws {
    let census = Census()
    try runBlocking {
      let (incoming, outgoing) = (Channel<Int>(), Channel<Counted>())
      let selecting = launch {
        try select {
          Receive(from: incoming) { _ in }
          Send(Counted(1, census), to: outgoing)
          After(.seconds(100)) {}
        }
      }
      try letOthersRun()
      #expect(census.alive == 1)
      try selecting.cancelAndJoin()
      #expect(selecting.error is CancellationError)
      #expect(census.alive == 0)
      #expect(incoming.sendIfReady(1) == .full(1))
      #expect(outgoing.receiveIfReady().value == nil)
    }
  }

  @Test func `a select that is decided before cancellation arrives takes effect`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let selecting = launch { try select { Receive(from: channel) { $0 } } }
      try letOthersRun()
      try channel.send(5)
      selecting.cancel()
      try #expect(selecting.value() == 5)
    }
  }

  @Test func `in cancelled code a select throws, unless a Default keeps it from parking (rule 2)`()
    throws
  {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>(capacity: 1)
      let coroutine = launch {
        Coroutine.current?.cancel()
        #expect(throws: CancellationError.self) {
          try select { Send(Counted(1, census), to: channel) }
        }
        #expect(throws: CancellationError.self) {
          try select {
            Send(Counted(1, census), to: channel)
            After(.zero) {}
          }
        }
        #expect(channel.isEmpty)
        #expect(census.alive == 0)
        let wasSent = try select {
          Send(Counted(2, census), to: channel) { true }
          Default { false }
        }
        #expect(wasSent)
        let wasFull = try select {
          Send(Counted(3, census), to: channel) { false }
          Default { true }
        }
        #expect(wasFull)
      }
      try coroutine.value()
      guard case .received(let sent) = channel.receiveIfReady() else {
        Issue.record("nothing was sent")
        return
      }
      #expect(sent.number == 2)
    }
  }

  @Test func `a select that times out leaves its channels as before (rule 3)`() throws {
    try runBlocking {
      let (one, other) = (Channel<Int>(), Channel<Int>())
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(1)) {
          try select {
            Receive(from: one) { $0 }
            Receive(from: other) { $0 }
          }
        }
      }
      #expect(one.sendIfReady(1) == .full(1))
      #expect(other.sendIfReady(1) == .full(1))
    }
  }

  @Test func `an After that is not over disarms with its select`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      for round in 0..<1_000 {
        let selecting = launch {
          try select {
            Receive(from: channel) { $0 }
            After(.seconds(1_000)) { -1 }
          }
        }
        try Coroutine.yield()
        if round % 2 == 0 { try channel.send(round) } else { selecting.cancel() }
        try selecting.join()
      }
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `cancelling selects while values fly loses and doubles none (rule 3)`(
    place: Elsewhere
  ) throws {
    let census = Census()
    let (sent, received) = (Tally(), Tally())
    try runBlocking {
      let (one, other) = (Channel<Counted>(), Channel<Counted>(capacity: 1))
      let schedulers = place.schedulers(2)
      for round in 0..<200 {
        let sender = launch(on: schedulers[0]) {
          for value in 0..<4 {
            try select {
              Send(Counted(value, census), to: one) { _ = sent.add() }
              Send(Counted(value, census), to: other) { _ = sent.add() }
            }
          }
        }
        let receiver = launch(on: schedulers[1]) {
          for _ in 0..<4 {
            try select {
              Receive(from: one) { _ in _ = received.add() }
              Receive(from: other) { _ in _ = received.add() }
            }
          }
        }
        if round % 3 == 0 { try Coroutine.yield() }
        if round % 2 == 0 { sender.cancel() }
        receiver.cancel()
        sender.cancel()
        try sender.join()
        try receiver.join()
        while other.receiveIfReady().value != nil { received.add() }
        #expect(one.receiveIfReady().value == nil)
      }
    }
    #expect(sent.value == received.value)
    #expect(census.alive == 0)
  }
}

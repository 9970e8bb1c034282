// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

#if COROUTINES_CHECKED

/// Channels between loops (rules 3 to 5): nothing lost, nothing twice, everybody woken.
@Suite(.timeLimit(.minutes(30))) struct ChannelRaceTests {
  /// What parties saw, of values from 1 on.
  private final class Tally {
    let channel: Channel<Int>
    var sent: [Int] = []
    var received: [Int] = []
    var cancelled = 0
    var closed = 0

    init(capacity: Int) { channel = Channel(capacity: capacity) }

    func send(_ value: Int) throws {
      do {
        try channel.send(value)
        sent.append(value)
      } catch ChannelError.closed {
        closed += 1
      } catch is CancellationError {
        cancelled += 1
      }
    }

    func receive() throws {
      do {
        received.append(try channel.receive())
      } catch ChannelError.closed {
        closed += 1
      } catch is CancellationError {
        cancelled += 1
      }
    }

    /// What was sent was received or is still there, each once.
    func balance() throws {
      var left: [Int] = []
      while case .received(let value) = channel.receiveIfReady() { left.append(value) }
      try #require((received + left).sorted() == sent.sorted())
    }
  }

  @Test(arguments: [0, 1])
  func `a value goes from one loop to another (rule 4)`(_ capacity: Int) throws {
    let report = try Race { Tally(capacity: capacity) }
      .thread { tally in try runBlocking { try tally.send(1) } }
      .thread { tally in try runBlocking { try tally.receive() } }
      .explore { tally in
        try #require(tally.received == [1])
      }
    #expect(report.isComplete)
    #expect(report.runs > 10)
  }

  @Test(arguments: [0, 1])
  func `two senders and a receiver of two values, on three loops (rule 4)`(_ capacity: Int) throws {
    try Race { Tally(capacity: capacity) }
      .thread { tally in try runBlocking { try tally.send(1) } }
      .thread { tally in try runBlocking { try tally.send(2) } }
      .thread { tally in
        try runBlocking {
          try tally.receive()
          try tally.receive()
        }
      }
      .explore(.exhaustive(delays: 3), runs: 2_000) { tally in
        try #require(tally.received.sorted() == [1, 2])
      }
  }

  @Test(arguments: [0, 1])
  func `closing while one sends and one receives wakes both, and loses nothing (rule 5)`(
    _ capacity: Int
  ) throws {
    try Race { Tally(capacity: capacity) }
      .thread { tally in try runBlocking { try tally.send(1) } }
      .thread { tally in try runBlocking { try tally.receive() } }
      .thread { tally in tally.channel.close() }
      .explore(.exhaustive(delays: 3), runs: 2_000) { tally in
        try #require(tally.sent.count + tally.received.count + tally.closed == 2)
        try tally.balance()
      }
  }

  @Test(arguments: [0, 1])
  func `cancelling a receiver swallows no value (rule 3)`(_ capacity: Int) throws {
    try Race {
      (Tally(capacity: capacity), Holder())
    }
    .thread { tally, holder in
      try runBlocking {
        holder.coroutine = Coroutine.current
        try tally.receive()
      }
    }
    .thread { tally, _ in _ = tally.channel.sendIfReady(1).isSent ? tally.sent.append(1) : () }
    .thread { tally, holder in
      holder.coroutine?.cancel()
      tally.channel.close()
    }
    .explore(.exhaustive(delays: 3), runs: 2_000) { tally, _ in
      // A receiver for whom nothing came, not even the close, would have been found asleep.
      try tally.balance()
    }
  }

  private final class Holder {
    var coroutine: Coroutine?
  }

  @Test func `a select takes from one of two loops, and leaves the other's value (rule 4)`() throws
  {
    final class Two {
      let left = Channel<Int>()
      let right = Channel<Int>()
      var got: [Int] = []
      var refused: [Int] = []
    }
    try Race { Two() }
      .thread { two in
        try runBlocking {
          two.got.append(
            try select {
              Receive(from: two.left) { $0 }
              Receive(from: two.right) { $0 }
            }
          )
          two.left.close()
          two.right.close()
        }
      }
      .thread { two in
        try runBlocking {
          do { try two.left.send(1) } catch ChannelError.closed { two.refused.append(1) }
        }
      }
      .thread { two in
        try runBlocking {
          do { try two.right.send(2) } catch ChannelError.closed { two.refused.append(2) }
        }
      }
      .explore(.exhaustive(delays: 3), runs: 3_000) { two in
        try #require(two.got.count == 1)
        try #require((two.got + two.refused).sorted() == [1, 2])
      }
  }

  @Test func `two selects of different loops meet once (rule 4)`() throws {
    final class Pair {
      let one = Channel<Int>()
      let other = Channel<Int>()
      var sent: [Int] = []
      var received: [Int] = []
    }
    try Race { Pair() }
      .thread { pair in
        try runBlocking {
          try select {
            Send(1, to: pair.one) { pair.sent.append(1) }
            Send(2, to: pair.other) { pair.sent.append(2) }
          }
        }
      }
      .thread { pair in
        try runBlocking {
          try select {
            Receive(from: pair.other) { pair.received.append($0) }
            Receive(from: pair.one) { pair.received.append($0) }
          }
        }
      }
      .explore(.exhaustive(delays: 3), runs: 3_000) { pair in
        try #require(pair.sent.count == 1 && pair.sent == pair.received)
      }
  }

  @Test func `a select with a default sees what another loop moves between its channels (rule 2)`()
    throws
  {
    final class Two {
      let left = Channel<Int>(capacity: 1)
      let right = Channel<Int>(capacity: 1)
      var got: [Int] = []
    }
    let report = try Race { Two() }
      .thread { two in
        try runBlocking {
          // Both channels' locks are biased to this thread, unless the other one was first.
          _ = (two.left.count, two.right.sendIfReady(1))
          // At each moment there is a value: the other loop puts one on the left before it takes this one.
          two.got.append(
            try select {
              Receive(from: two.left) { $0 }
              Receive(from: two.right) { $0 }
              Default { 0 }
            }
          )
        }
      }
      .thread { two in
        try runBlocking {
          two.left.sendIfReady(2)
          _ = two.right.receiveIfReady()
        }
      }
      .explore { two in
        try #require(two.got == [1] || two.got == [2])
      }
    #expect(report.isComplete)
  }
}

#endif

// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// What a `select` costs: all on one event loop.
enum SelectBenchmarks {
  /// One of four channels holds a value.
  static func oneReady(_ count: Int) throws {
    try runBlocking {
      let a = Channel<Int>(capacity: 1)
      let (b, c, d) = (Channel<Int>(), Channel<Int>(), Channel<Int>())
      var sum = 0
      for _ in 0..<count {
        a.sendIfReady(1)
        sum += try select {
          Receive(from: a) { $0 }
          Receive(from: b) { $0 }
          Receive(from: c) { $0 }
          Receive(from: d) { $0 }
        }
      }
      check(sum == count)
    }
  }

  /// What `oneReady` does apart from the select: to be taken off its figure.
  static func sendAndReceiveIfReady(_ count: Int) throws {
    try runBlocking {
      let a = Channel<Int>(capacity: 1)
      var sum = 0
      for _ in 0..<count {
        a.sendIfReady(1)
        if case .received(let number) = a.receiveIfReady() { sum += number }
      }
      check(sum == count)
    }
  }

  /// Actions that catch several variables: objects, if they were kept.
  static func oneReadyWithContexts(_ count: Int) throws {
    try runBlocking {
      let a = Channel<Int>(capacity: 1)
      let (b, c, d) = (Channel<Int>(), Channel<Int>(), Channel<Int>())
      var (sum, others) = (0, 0)
      let factor = max(1, count / Int.max)
      for _ in 0..<count {
        a.sendIfReady(1)
        try select {
          Receive(from: a) { sum += $0 * factor }
          Receive(from: b) { others += $0 * factor }
          Receive(from: c) { others += $0 * factor }
          Receive(from: d) { others += $0 * factor }
        }
      }
      check(sum == count && others == 0)
    }
  }

  /// All four are ready: two to receive from, two to send to.
  static func allReady(_ count: Int) throws {
    try runBlocking {
      let channels = (
        Channel<Int>(capacity: 2), Channel<Int>(capacity: 2), Channel<Int>(capacity: 2),
        Channel<Int>(capacity: 2)
      )
      var balance = 0
      for _ in 0..<count {
        channels.0.sendIfReady(1)
        channels.1.sendIfReady(1)
        _ = (channels.2.receiveIfReady(), channels.3.receiveIfReady())
        balance += try select {
          Receive(from: channels.0) { $0 }
          Receive(from: channels.1) { $0 }
          Send(1, to: channels.2) { 1 }
          Send(1, to: channels.3) { 1 }
        }
      }
      check(balance == count)
    }
  }

  /// None of four is ready.
  static func noneReady(_ count: Int) throws {
    try runBlocking {
      let (a, b) = (Channel<Int>(), Channel<Int>())
      let (c, d) = (Channel<Int>(), Channel<Int>())
      var sum = 0
      for _ in 0..<count {
        sum += try select {
          Receive(from: a) { $0 }
          Receive(from: b) { $0 }
          Receive(from: c) { $0 }
          Receive(from: d) { $0 }
          Default { 1 }
        }
      }
      check(sum == count)
    }
  }

  /// None of four is ready until another coroutine sends.
  static func parks(_ count: Int) throws {
    try runBlocking {
      let (a, b) = (Channel<Int>(), Channel<Int>())
      let (c, d) = (Channel<Int>(), Channel<Int>())
      launch {
        // The select is made ready, and runs while this coroutine waits for its turn.
        for _ in 0..<count {
          b.sendIfReady(1)
          try Coroutine.yield()
        }
      }
      var sum = 0
      for _ in 0..<count {
        sum += try select {
          Receive(from: a) { $0 }
          Receive(from: b) { $0 }
          Receive(from: c) { $0 }
          Receive(from: d) { $0 }
        }
      }
      check(sum == count)
    }
  }

  /// One of 64 channels holds a value.
  static func oneOfManyReady(_ count: Int) throws {
    try runBlocking(stackSize: .bytes(1 << 20)) {
      let channels = (0..<64).map { _ in Channel<Int>(capacity: 1) }
      var sum = 0
      for round in 0..<count {
        channels[round & 63].sendIfReady(1)
        sum += try receiveAny(from: channels)
      }
      check(sum == count)
    }
  }

  /// The clauses stand in pairs of pairs.
  private static func receiveAny(from c: [Channel<Int>]) throws -> Int {
    try select {
      four(c[0], c[1], c[2], c[3])
      four(c[4], c[5], c[6], c[7])
      four(c[8], c[9], c[10], c[11])
      four(c[12], c[13], c[14], c[15])
      four(c[16], c[17], c[18], c[19])
      four(c[20], c[21], c[22], c[23])
      four(c[24], c[25], c[26], c[27])
      four(c[28], c[29], c[30], c[31])
      four(c[32], c[33], c[34], c[35])
      four(c[36], c[37], c[38], c[39])
      four(c[40], c[41], c[42], c[43])
      four(c[44], c[45], c[46], c[47])
      four(c[48], c[49], c[50], c[51])
      four(c[52], c[53], c[54], c[55])
      four(c[56], c[57], c[58], c[59])
      four(c[60], c[61], c[62], c[63])
    }
  }

  private typealias Two = SelectPair<Receive<Int, Int>, Receive<Int, Int>>

  private static func four(
    _ a: Channel<Int>,
    _ b: Channel<Int>,
    _ c: Channel<Int>,
    _ d: Channel<Int>
  ) -> SelectPair<Two, Two> {
    SelectPair(
      SelectPair(Receive(from: a) { $0 }, Receive(from: b) { $0 }),
      SelectPair(Receive(from: c) { $0 }, Receive(from: d) { $0 })
    )
  }
}

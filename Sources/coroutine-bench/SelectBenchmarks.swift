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

  /// Actions that catch variables: they need a context.
  static func oneReadyWithContexts(_ count: Int) throws {
    try runBlocking {
      let a = Channel<Int>(capacity: 1)
      let (b, c, d) = (Channel<Int>(), Channel<Int>(), Channel<Int>())
      var (sum, others) = (0, 0)
      for _ in 0..<count {
        a.sendIfReady(1)
        try select {
          Receive(from: a) { sum += $0 }
          Receive(from: b) { others += $0 }
          Receive(from: c) { others += $0 }
          Receive(from: d) { others += $0 }
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
}

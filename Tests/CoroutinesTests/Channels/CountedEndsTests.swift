// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

/// Channels that are closed with the last of an end.
@Suite(.timeLimit(.minutes(30))) struct CountedEndsTests {
  @Test func `receivers find it closed when the last sender is gone, after what is kept`() throws {
    try runBlocking {
      var (sender, receiver): (SendEnd<Int>?, ReceiveEnd<Int>) = Channel.makeEnds(
        capacity: .bounded(4)
      )
      var copy = sender
      try sender?.send(1)
      let values = launch { Array(receiver) }
      try Coroutine.yield()
      sender = nil
      try Coroutine.yield()
      #expect(!values.isFinished, "a copy is left")
      try copy?.send(2)
      copy = nil
      #expect(try values.value() == [1, 2])
    }
  }

  /// The end is in no variable of the scope with the loop.
  @Test func `a producer that is handed its end leaves nobody waiting`() throws {
    struct Failure: Error {}
    try runBlocking {
      let squares = Channel<Int>.makeEnds(capacity: 8, name: "squares") { results in
        for part in 1...3 { launch { try results.send(part * part) } }
      }
      #expect(Array(squares) == [1, 4, 9])
      #expect(throws: Failure.self) { try Channel<Int>.makeEnds { _ in throw Failure() } }
    }
  }

  @Test func `a producer that fails hangs nobody`() throws {
    struct Failure: Error {}
    try runBlocking {
      let receiver = producer {
        try $0.send(1)
        throw Failure()
      }
      #expect(Array(receiver) == [1])
    }
  }

  @Test func `senders find it closed when the last receiver is gone`() throws {
    try runBlocking {
      let sender = consumer { receiver in
        let first = try receiver.receive()
        #expect(first == 1)
      }
      try sender.send(1)
      #expect(throws: ChannelError.self) {
        // It may come before the consumer has ended, and then waits.
        try sender.send(2)
      }
    }
  }

  @Test func `an end counts as there while it is waited at for the last time`() throws {
    try runBlocking {
      let (sender, receiver) = Channel<Int>.makeEnds()
      let (other, quiet) = Channel<Int>.makeEnds()
      launch {
        try Coroutine.sleep(for: .milliseconds(1))
        try sender.send(1)
        try sender.send(2)
        withExtendedLifetime(other) {}
      }
      let first = try select {
        Receive(from: quiet) { -$0 }
        Receive(from: receiver) { $0 }
      }
      #expect(first == 1)
      #expect(try receiver.receive() == 2)
    }
  }

  @Test func `ends of a channel in hand close nothing`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      do { _ = channel.sendEnd }
      do { _ = channel.receiveEnd }
      #expect(!channel.isClosed)
    }
  }
}

/// Launches a producer; nobody else keeps its end.
private func producer(
  _ body: @escaping (SendEnd<Int>) throws -> Void
) -> ReceiveEnd<Int> {
  let (sender, receiver) = Channel<Int>.makeEnds()
  launch { try? body(sender) }
  return receiver
}

/// Launches a consumer; nobody else keeps its end.
private func consumer(_ body: @escaping (ReceiveEnd<Int>) throws -> Void) -> SendEnd<Int> {
  let (sender, receiver) = Channel<Int>.makeEnds()
  launch { try body(receiver) }
  return sender
}

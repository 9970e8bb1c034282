// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// `perm`: what the ends of a channel can do.
///
/// What they cannot does not compile; the table says what.
@Suite(.timeLimit(.minutes(30))) struct GoDirectionTests {
  @Test func `a channel turns into either end, which does that half`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 2)
      let (sending, receiving): (SendEnd<Int>, ReceiveEnd<Int>) = (
        channel.sendEnd, channel.receiveEnd
      )
      try channel.send(0)
      try #expect(channel.receive() == 0)
      try sending.send(1)
      #expect(sending.sendIfReady(2).isSent)
      try #expect(receiving.receive() == 1)
      #expect(receiving.receiveIfReady() == .received(2))
    }
  }

  @Test func `a select takes channels and the ends that fit its clauses`() throws {
    try runBlocking {
      let (channel, other) = (Channel<Int>(capacity: 1), Channel<Int>(capacity: 1))
      let first = try select {
        Send(1, to: channel.sendEnd) { "sent" }
        Receive(from: other.receiveEnd) { "received \($0)" }
      }
      let second = try select {
        Send(1, to: channel) { "sent" }
        Receive(from: channel.receiveEnd) { "received \($0)" }
      }
      #expect([first, second] == ["sent", "received 1"])
    }
  }

  @Test func `the sending end closes; the receiving end sees it and ends its loop`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 3)
      let (sending, receiving) = (channel.sendEnd, channel.receiveEnd)
      for value in 1...3 { try sending.send(value) }
      sending.close()
      #expect(receiving.isClosed)
      #expect(Array(receiving) == [1, 2, 3])
      #expect(throws: ChannelError.closed) { try sending.send(4) }
      // Go stops a program that closes twice; here the second time has no effect.
      sending.close()
      channel.close()
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Rule 12: a call that parks where nothing can park says so.
@Suite struct ChannelMisuseTests {
  @Test func `calls that park throw outside a coroutine (rule 12)`() async throws {
    try await onThread {
      let channel = Channel<Int>(capacity: 4)
      channel.sendIfReady(1)
      #expect(throws: CoroutineError.outsideCoroutine) { try channel.send(1) }
      #expect(throws: CoroutineError.outsideCoroutine) { try channel.receive() }
      #expect(throws: CoroutineError.outsideCoroutine) { try channel.receiveAll() }
      #expect(throws: CoroutineError.outsideCoroutine) { try channel.receive(count: 1) }
      #expect(throws: CoroutineError.outsideCoroutine) { try channel.sendEnd.send(1) }
      #expect(throws: CoroutineError.outsideCoroutine) { try channel.receiveEnd.receive() }
      #expect(channel.receiveIfReady() == .received(1))
    }
  }

  @Test func `a loop over a channel outside a coroutine stops the program (rule 12)`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      for _ in Channel<Int>() {}
    }
    #expect(result.text.contains("Channel.receive() parks the coroutine that calls it"))
  }

  @Test func `a negative capacity stops the program (rule 12)`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      _ = Channel<Int>(capacity: -1)
    }
    #expect(result.text.contains("A channel of capacity -1 was asked for"))
  }

  @Test func `a negative count stops the program (rule 12)`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try await withCoroutine { _ = try Channel<Int>().receive(count: -2) }
    }
    #expect(result.text.contains("receive(count: -2): the count must be 0 or more"))
  }
}

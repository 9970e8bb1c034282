// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Testing

@testable import Coroutines

@Suite struct RecordedChannelTests {
  /// What the recorder leans on.
  @Test func `a channel's state is found behind its header, whatever it carries`() {
    let numbers = Channel<Int>(capacity: 2)
    let texts = Channel<[String: any Sendable]>(name: "texts")
    let nothing = Channel<Void>()
    #expect(UnsafeMutablePointer<ChannelCore>.ofChannel(numbers) == numbers.core)
    #expect(UnsafeMutablePointer<ChannelCore>.ofChannel(texts) == texts.core)
    #expect(UnsafeMutablePointer<ChannelCore>.ofChannel(nothing) == nothing.core)
  }
}

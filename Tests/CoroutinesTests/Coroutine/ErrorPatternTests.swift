// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// The library's errors as patterns of `catch`.
@Suite struct ErrorPatternTests {
  @Test func `a closed channel is caught by name`() {
    let channel = Channel<Int>()
    channel.close()
    var caught = false
    do {
      try runBlocking { try channel.send(1) }
    } catch CoroutineError.outsideCoroutine {
      Issue.record("not this one")
    } catch ChannelError.closed {
      caught = true
    } catch {
      Issue.record("\(error)")
    }
    #expect(caught)
  }

  @Test func `kinds of one type are told apart`() {
    #expect(PromiseError.cancelled ~= PromiseError.cancelled)
    #expect(!(PromiseError.cancelled ~= PromiseError.abandoned))
    #expect(!(PromiseError.cancelled ~= CancellationError()))
    #expect(CoroutineError.joinsItself ~= CoroutineError.joinsItself)
    #expect(!(CoroutineError.joinsItself ~= CoroutineError.schedulerShutDown))
    #expect(GeneratorError.finished ~= GeneratorError.finished)
    #expect(!(GeneratorError.finished ~= GeneratorError.yieldedElsewhere))
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

/// "Coroutines of iOS", section "goroutine": the sample in Go.
@Suite(.timeLimit(.minutes(30))) struct IOSGoroutineTests {
  @Test func `a receive waits until the goroutine has sent`() throws {
    let log = Log()
    try runBlocking {
      let ch2 = Channel<String>(capacity: 1)
      // go func() { … }()
      launch {
        try Coroutine.sleep(for: .milliseconds(2))
        log("in the goroutine: the data have come")
        try Coroutine.sleep(for: .milliseconds(2))
        try ch2.send(" have arrived!")
      }
      log("waits for the data: blocked")
      var value = "the test data"
      value += try ch2.receive()
      ch2.close()
      // The document warns that closing twice is a panic in Go. Here the second time has no effect.
      ch2.close()
      log(value)
    }
    #expect(
      log.entries == [
        "waits for the data: blocked", "in the goroutine: the data have come",
        "the test data have arrived!",
      ]
    )
  }
}

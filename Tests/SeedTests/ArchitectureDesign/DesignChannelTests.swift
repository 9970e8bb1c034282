// SPDX-License-Identifier: Apache-2.0

import CoswiftScenarios
import Dispatch
import Testing
import coswift

/// "Architecture design", sections "The scheduler" and "The design of channels".
@Suite(.timeLimit(.minutes(30))) struct DesignChannelTests {
  // "When there is no coroutine in the queue, it goes back to the thread."
  static let scheduler = Scenario(
    "Architecture design, the scheduler",
    expected: ["a", "b", "a was woken", "the next block"]
  ) { play in
    let channel = Chan<Int>()
    co_launch {
      play.log("a")
      _ = try channel.receive()
      play.log("a was woken")
    }
    co_launch {
      play.log("b")
      channel.send_nonblock(val: 1)
    }
    play.queue.async {
      play.log("the next block")
      play.finish()
    }
  }

  @Test func `the scheduler runs all that is ready before it gives the thread back`() {
    check(Self.scheduler)
  }

  // The picture of the three kinds: without a buffer, with one, with an unlimited one.
  private static func kinds(_ name: String, _ chan: Chan<Int>, expected: [String]) -> Scenario {
    Scenario("Architecture design, a channel \(name)", expected: expected) { play in
      let sender = co_launch {
        for value in 1...3 {
          try chan.send(val: value)
          play.log("sent \(value)")
        }
      }
      let receiver = co_launch {
        for _ in 1...3 { play.log("received \(try chan.receive())") }
      }
      play.finish(after: sender, receiver)
    }
  }

  static var unbuffered: Scenario {
    kinds(
      "without a buffer",
      Chan(),
      expected: ["received 1", "sent 1", "sent 2", "received 2", "received 3", "sent 3"]
    )
  }

  static var buffered: Scenario {
    kinds(
      "with a buffer",
      Chan(buffCount: 1),
      expected: ["sent 1", "received 1", "received 2", "sent 2", "sent 3", "received 3"]
    )
  }

  static var unlimited: Scenario {
    kinds(
      "with an unlimited buffer",
      Chan.expandable(),
      expected: ["sent 1", "sent 2", "sent 3", "received 1", "received 2", "received 3"]
    )
  }

  @Test func `a sender is blocked when there is no room, a receiver when there is no value`() {
    check(Self.unbuffered)
    check(Self.buffered)
    check(Self.unlimited)
  }
}

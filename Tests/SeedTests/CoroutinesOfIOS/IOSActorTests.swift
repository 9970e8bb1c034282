// SPDX-License-Identifier: Apache-2.0

import CoswiftScenarios
import Dispatch
import Testing
import coswift

/// "Coroutines of iOS", section "Actor".
@Suite(.timeLimit(.minutes(30))) struct IOSActorTests {
  // co_actor_onqueue. The document writes the queue behind the block; the header that it is taken from, before
  // it (C10).
  static let messages = Scenario(
    "Coroutines of iOS, actor",
    expected: ["1: send msg", "2: 1"]
  ) { play in
    let q = DispatchQueue(label: "q")
    let actor = co_actor_onqueue(q) { channel in
      // The actor's state.
      var count = 0
      for message in channel {
        dispatchPrecondition(condition: .onQueue(q))
        count += 1
        play.log("\(count): \(message.type ?? "nil")")
        message.complete(nil)
      }
    }
    _ = actor.send("send msg")
    let last = actor.send(1)
    let waiter = co_launch { try co_await(promise: last) }
    play.finish(after: waiter) { withExtendedLifetime(actor) {} }
  }

  @Test func `an actor takes messages of any type from its mailbox, first come, first served`() {
    check(Self.messages)
  }
}

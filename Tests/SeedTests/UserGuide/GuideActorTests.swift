// SPDX-License-Identifier: Apache-2.0
// The names are those of the document.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoswiftScenarios
import Dispatch
import Foundation
import Testing
import coswift

/// "User guide", section 6, "COActor".
@Suite(.timeLimit(.minutes(30))) struct GuideActorTests {
  // co_actor, co_actor_onqueue
  static let start = Scenario(
    "User guide 6, making actors",
    expected: ["val 1", "val1 1"]
  ) { play in
    let queue = DispatchQueue(label: "actor")
    let first = co_actor { _ in
      dispatchPrecondition(condition: .onQueue(play.queue))
      play.log("val 1")
    }
    co_launch {
      first.join()
      let second = co_actor_onqueue(queue) { _ in
        dispatchPrecondition(condition: .onQueue(queue))
        play.log("val1 1")
      }
      play.finish(after: second)
    }
  }

  @Test func `an actor's block begins by itself, here or on a queue, with its mailbox`() {
    check(Self.start)
  }

  // it(@"next in chan")
  static let next = Scenario(
    "User guide 6, next in chan",
    expected: ["5"]
  ) { play in
    let actor = co_actor { chan in
      var tmpVal = 0
      while let message = chan.next() {
        if message.intType == 1 {
          tmpVal += 1
        } else if message.intType == -1 {
          tmpVal -= 1
        } else if message.intType == 2 {
          // Gives the data back.
          message.complete(tmpVal)
        }
      }
    }
    let coroutine = co_launch {
      for _ in 0..<6 { actor.sendMessage(1) }
      actor.sendMessage(-1)
      let completable = actor.sendMessage(2)
      let result = try co_await(promise: completable).get()
      play.log("\(result as? Int ?? 0)")
      actor.cancel()
    }
    play.finish(after: coroutine, actor)
  }

  @Test func `an actor counts what it is sent, and answers`() {
    check(Self.next)
  }

  // it(@"error example")
  static let error = Scenario(
    "User guide 6, error example",
    expected: ["code 100"]
  ) { play in
    let actorQueue = DispatchQueue(label: "actor")
    func test_promise() -> COPromise<String> {
      COPromise { _, reject in
        actorQueue.asyncAfter(deadline: .now() + 0.001) {
          reject(NSError(domain: "test", code: 100))
        }
      }
    }
    let actor = co_actor_onqueue(actorQueue) { channel in
      for message in channel {
        // A nil after a failed await passes its error on.
        message.complete(try? co_await(promise: test_promise()).get())
      }
    }
    let coroutine = co_launch {
      try co_await(promise: actor.sendMessage("test"))
      let error = co_getError() as NSError?
      play.log("code \(error?.code ?? 0)")
    }
    play.finish(after: coroutine) { withExtendedLifetime(actor) {} }
  }

  @Test func `the error of an actor's await comes to the sender`() {
    check(Self.error)
  }
}

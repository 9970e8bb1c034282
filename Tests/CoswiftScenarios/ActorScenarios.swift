// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import coswift

extension Scenario {
  /// The actor of the articles: counts up, and tells.
  private static func counter(_ play: Play) -> COActor {
    co_actor { messages in
      var count = 0
      for message in messages {
        switch message.stringType {
        case "inc":
          count += 1
          play.log("\(count)")
          message.complete(nil)
        case "get":
          play.log("get \(count)")
          message.complete(count)
        default: message.complete(nil)
        }
      }
    }
  }

  static let actorScenarios = [
    Scenario(
      58,
      "actors start by themselves",
      expected: ["first 1", "second 1"]
    ) { play in
      let gate = Chan<Int>(buffCount: 2)
      let first = co_actor { _ in
        play.log("first 1")
        gate.send_nonblock(val: 1)
      }
      co_launch {
        _ = try gate.receive()
        let second = co_actor_onqueue(DispatchQueue(label: "actor")) { _ in
          play.log("second 1")
          gate.send_nonblock(val: 1)
        }
        _ = try gate.receive()
        withExtendedLifetime((first, second)) {}
        play.finish()
      }
    },
    Scenario(
      59,
      "an actor takes messages with next, and answers",
      expected: ["Optional(5)", "cancelled true, finished true"]
    ) { play in
      let actor = co_actor { mailbox in
        var count = 0
        while let message = mailbox.next() {
          switch message.intType {
          case 1: count += 1
          case -1: count -= 1
          case 2: message.complete(count)
          default: break
          }
        }
      }
      co_launch {
        for _ in 0..<6 { actor.sendMessage(1) }
        actor.sendMessage(-1)
        let answer = try co_await(promise: actor.sendMessage(2)).get()
        play.log("\(String(describing: answer))")
        actor.cancel()
        actor.join()
        play.log("cancelled \(actor.isCancelled), finished \(actor.isFinished)")
        play.finish()
      }
    },
    Scenario(
      60,
      "complete(nil) after a failed await rejects with its error",
      expected: ["error 100", "co_getError 100"]
    ) { play in
      let actor = co_actor_onqueue(DispatchQueue(label: "actor")) { messages in
        for message in messages {
          let failing = Promise<Int> { _, reject in
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.02) {
              reject(NSError(domain: "error", code: 100))
            }
          }
          message.complete(try? co_await(promise: failing).get())
        }
      }
      co_launch {
        if case .rejected(let error) = try co_await(promise: actor.sendMessage("get")) {
          play.log("error \((error as NSError).code)")
        }
        play.log("co_getError \((co_getError() as NSError?)?.code ?? 0)")
        play.finish()
      }
    },
    Scenario(
      61,
      "the answer is not there right after the send, but after an await",
      expected: ["value nil", "1", "2", "get 2", "awaited 2"]
    ) { play in
      let actor = counter(play)
      actor.sendMessage("inc")
      actor.sendMessage("inc")
      let answer = actor.sendMessage("get")
      play.log("value \(answer.value.flatMap { $0 as? Int }.map { "\($0)" } ?? "nil")")
      co_launch {
        let value = try co_await(promise: answer).get() as? Int
        play.log("awaited \(value ?? 0)")
        play.finish()
        withExtendedLifetime(actor) {}
      }
    },
    Scenario(
      62,
      "messages are handled in the order of sending",
      expected: ["0", "1", "2", "3"]
    ) { play in
      let actor = co_actor { messages in
        for message in messages {
          play.log("\(message.intType ?? -1)")
          // A handler that waits delays the next message.
          try co_delay(0.005)
          message.complete(nil)
        }
      }
      let answers = (0..<4).map { actor.sendMessage($0) }
      co_launch {
        _ = try batch_await(answers)
        play.finish()
        withExtendedLifetime(actor) {}
      }
    },
    Scenario(
      63,
      "messages of different types come in order",
      expected: ["string send msg", "number 1"]
    ) { play in
      let actor = co_actor { messages in
        for message in messages {
          if let text = message.type as? String {
            play.log("string \(text)")
          } else if let number = message.intType {
            play.log("number \(number)")
          }
          message.complete(nil)
        }
      }
      _ = actor.send("send msg")
      let last = actor.send(1)
      co_launch {
        _ = try co_await(promise: last)
        play.finish()
        withExtendedLifetime(actor) {}
      }
    },
  ]
}

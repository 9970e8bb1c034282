// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import coswift

extension Scenario {
  static let generatorScenarios = [
    Scenario(
      54,
      "a generator counts for ever, ten values are taken",
      expected: ["[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"]
    ) { play in
      let numbers = co_sequence(Int.self) {
        var number = 0
        while true {
          try yield { number }
          number += 1
        }
      }
      co_launch {
        var taken: [Int] = []
        for _ in 0..<10 { taken.append(try numbers.next()) }
        play.log("\(taken)")
        play.finish()
      }
    },
    Scenario(
      55,
      "a generator works on its queue, its user shows the messages on another",
      expected: ["message 0", "message 1", "message 2", "[\"message 3\", \"message 4\"]"]
    ) { play in
      let queue = play.queue
      let messages = sequenceOnBackgroundQueue("message_queue", String.self) {
        var number = 0
        while true {
          dispatchPrecondition(condition: .notOnQueue(queue))
          try yield { "message \(number)" }
          number += 1
        }
      }
      co {
        for _ in 0..<3 {
          let message = try messages.take()
          dispatchPrecondition(condition: .onQueue(queue))
          play.log(message)
        }
        play.log("\(try messages.take(2))")
        play.finish()
      }
    },
    Scenario(
      56,
      "ten values of a random generator: it runs ten times and no more",
      expected: ["taken 10, made 10", "cancelled: generatorCancelled, made 10"]
    ) { play in
      var made = 0
      let random = co_sequence(Int.self) {
        while true {
          try yield {
            made += 1
            return Int.random(in: 0..<100)
          }
        }
      }
      co_launch {
        var taken = 0
        for _ in 0..<10 where (0..<100).contains(try random.next()) { taken += 1 }
        play.log("taken \(taken), made \(made)")
        random.cancel()
        do {
          _ = try random.next()
        } catch let error as COError {
          random.join()
          play.log("cancelled: \(error), made \(made)")
        }
        play.finish()
      }
    },
    Scenario(
      57,
      "a generator stops at its yield until it is asked again, and keeps its locals",
      expected: ["asks", "makes 0", "got 0", "asks", "after 0", "makes 1", "got 1"]
    ) { play in
      let numbers = co_sequence(Int.self) {
        var number = 0
        while true {
          play.log("makes \(number)")
          try yield { number }
          play.log("after \(number)")
          number += 1
        }
      }
      co_launch {
        for _ in 0..<2 {
          play.log("asks")
          play.log("got \(try numbers.next())")
          // Time for the generator to run on, if it did.
          try co_delay(0.01)
        }
        play.finish()
      }
    },
  ]
}

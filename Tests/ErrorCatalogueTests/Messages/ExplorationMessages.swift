// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting

/// Takes what somebody else takes as well.
private final class Till {
  var coins = 1

  func take() throws -> Bool {
    guard coins > 0 else { return false }
    try Coroutine.yield()
    coins -= 1
    return true
  }
}

private struct TillSpecification: SequentialSpecification {
  enum Operation { case take }
  var coins = 1

  mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<Bool>] {
    defer { coins = max(0, coins - 1) }
    return [Completion(caller, coins > 0)]
  }
}

private struct SilentSpecification: SequentialSpecification {
  enum Operation { case take }
  typealias Outcome = Bool
}

private func options(_ workers: Int, _ operations: Int) -> LinearizabilityOptions {
  var options = LinearizabilityOptions()
  (options.scenarios, options.runs, options.cancels) = (1, 50, false)
  (options.workers, options.operations) = (workers, operations)
  return options
}

let explorationMessages = Chapter(
  title: "Tests: exploring orders",
  messages: [
    .thrown("an order in which a body fails", "Run ", at: "OutOfInk()", do: "To see it again") {
      try explore {
        let till = Till()
        let takers = ["Ann", "Bob"].map { name in launch(name: name) { _ = try till.take() } }
        for taker in takers { try taker.join() }
        if till.coins < 0 { throw OutOfInk() }
      }
    },
    .thrown(
      "a body that is not the same each time",
      "did something else under the same order",
      at: "at decision",
      do: "It must not depend on"
    ) {
      nonisolated(unsafe) var runs = 0
      do {
        try explore {
          runs += 1
          for _ in 0...runs { launch {} }
        }
      } catch let failure as ExplorationFailure {
        throw failure.error
      }
    },
    .thrown(
      "a timer that is late",
      "OutOfInk()",
      at: "With 3600.0 seconds of lateness for timer 1",
      do: "look at what was half done"
    ) {
      try sweepLateTimers {
        var order: [Int] = []
        let sleepers = [1, 2].map { number in
          launch(name: "sleeper \(number)") {
            try Coroutine.sleep(for: .seconds(number))
            order.append(number)
          }
        }
        for sleeper in sleepers { try sleeper.join() }
        if order != [1, 2] { throw OutOfInk() }
      }
    },
    .thrown(
      "a history that no order explains",
      "No order of whole operations does this",
      at: "take",
      do: "One of these calls sees"
    ) {
      do {
        try checkLinearizability(TillSpecification(), of: [.take], options: options(2, 1)) {
          Till()
        } perform: { till, _ in
          try till.take()
        }
      } catch let failure as ExplorationFailure {
        throw failure.error
      }
    },
    .thrown(
      "a search that needs to see inside the library",
      "only checked builds allow",
      at: "explore(sharing: .libraryObjectsOnly)",
      do: "Build with the package trait"
    ) {
      try explore(sharing: .libraryObjectsOnly) {}
    },
    .thrown(
      "a race in a build without preemption points",
      "only checked builds allow",
      at: "A Race",
      do: "Build with the package trait"
    ) {
      try Race { 0 }.thread { _ in }.explore { _ in }
    },
    .stop(
      "a replay string that is none",
      "\"not one!\" is no replay string",
      at: "not one!",
      do: "Paste the one"
    ) {
      try explore(replay: "not one!") {}
    },
    .stop(
      "timers that are late by nothing",
      "late by 0.0 seconds",
      at: "A timer",
      do: "must be more than zero"
    ) {
      try sweepLateTimers(by: .zero) {}
    },
    .stop(
      "a specification that says nothing",
      "says neither what an operation does",
      at: "SilentSpecification",
      do: "in `possibilities`"
    ) {
      try checkLinearizability(SilentSpecification(), of: [.take], options: options(1, 1)) {
        Till()
      } perform: { till, _ in
        try till.take()
      }
    },
    .stop(
      "a history that is too long to check",
      "A history of 70 calls",
      at: "no more than 64",
      do: "take fewer workers or operations"
    ) {
      try checkLinearizability(TillSpecification(), of: [.take], options: options(1, 70)) {
        Till()
      } perform: { till, _ in
        try till.take()
      }
    },
  ]
)

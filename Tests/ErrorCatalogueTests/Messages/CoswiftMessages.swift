// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import coswift

let coswiftMessages = Chapter(
  title: "coswift",
  messages: [
    .thrown(
      "coswift: a promise that was cancelled",
      "was cancelled",
      at: "The promise",
      do: "handle it where"
    ) {
      throw COError.promiseCancelled
    },
    .thrown(
      "coswift: a coroutine that was cancelled",
      "was cancelled",
      at: "The coroutine",
      do: "Clean up and return"
    ) {
      throw COError.coroutineCancelled
    },
    .thrown(
      "coswift: a wait outside a coroutine",
      "only a coroutine can wait",
      at: "This call",
      do: "Call it inside co_launch"
    ) {
      try co_delay(1)
    },
    .thrown(
      "coswift: a generator that was cancelled",
      "was cancelled",
      at: "The generator",
      do: "Return from its block"
    ) {
      throw COError.generatorCancelled
    },
    .thrown(
      "coswift: a generator that has ended",
      "has ended",
      at: "The generator's body",
      do: "make another one"
    ) {
      throw COError.generatorClosed
    },
    .thrown(
      "coswift: a yield outside a generator",
      "where no generator of such values runs",
      at: "A value",
      do: "Yield from the block"
    ) {
      throw COError.notGenerator
    },
    .thrown(
      "coswift: a receive that failed (never thrown, kept for old code)",
      "failed to receive",
      at: "The channel",
      do: "Receive again"
    ) {
      throw COError.chanReceiveFailUnknown
    },
    .thrown(
      "RJIterator: a yield outside an iterator",
      "No iterator runs here",
      at: "rj_yield and rj_await",
      do: "work in the block of"
    ) {
      _ = try rj_yield(1)
    },
    .thrown(
      "RJIterator: an iterator asked by its own body",
      "runs and cannot be resumed",
      at: "The iterator's body",
      do: "belongs to one user at a time"
    ) {
      let kept = Kept()
      let iterator = RJIterator(standardBlock: {
        kept.error = kept.iterator?.next().error as? RJError
      })
      kept.iterator = iterator
      _ = iterator.next()
      kept.iterator = nil
      if let error = kept.error { throw error }
    },
    .thrown(
      "RJIterator: a task that never calls back",
      "dropped its callback",
      at: "A task of rj_await",
      do: "Call it on every path"
    ) {
      let kept = Kept()
      let isOver = DispatchSemaphore(value: 0)
      DispatchQueue(label: "work").async {
        rj_async {
          // Dropped on another thread, a little later.
          let task: RJAsyncClosure = { callback in
            DispatchQueue.global().async { withExtendedLifetime(callback) {} }
          }
          kept.error = try rj_await(task).error as? RJError
        }
        .finally { isOver.signal() }
      }
      isOver.wait()
      if let error = kept.error { throw error }
    },
    .print(
      "coswift: a join outside a coroutine",
      "join() returns at once",
      at: "coswift",
      do: "Call it inside"
    ) {
      let coroutine = co_launch_onqueue(DispatchQueue(label: "work")) { try co_delay(60) }
      coroutine.join()
    },
    .stop("coswift: fewer than no values", "the count", at: "take(-1)", do: "must be 0 or more") {
      _ = try co_sequence(Int.self) {}.take(-1)
    },
    .stop(
      "coswift: a loop over a generator, outside a coroutine",
      "no coroutine runs here",
      at: "A loop over a Generator",
      do: "Put it into co_launch"
    ) {
      let numbers = co_sequence(Int.self) { try yield { 1 } }
      for _ in numbers {}
    },
    .stop(
      "coswift: a mailbox read outside a coroutine",
      "where no coroutine runs",
      at: "An actor's mailbox",
      do: "Read it in the actor's block"
    ) {
      let mailbox = Promised()
      _ = co_actor_onqueue(DispatchQueue(label: "clerk")) { mailbox.give($0) }
      _ = mailbox.wait().next()
    },
    .stop(
      "coswift: a delay that is no number",
      "a number of seconds is needed",
      at: "co_delay(nan)",
      do: "is needed"
    ) {
      try co_delay(.nan)
    },
  ]
)

/// Hands an actor's mailbox out of its block.
private final class Promised: @unchecked Sendable {
  // SAFETY: written before the signal, read after it.
  private var mailbox: COActorChan?
  private let isGiven = DispatchSemaphore(value: 0)

  func give(_ mailbox: COActorChan) {
    self.mailbox = mailbox
    isGiven.signal()
  }

  func wait() -> COActorChan {
    isGiven.wait()
    guard let mailbox else { fatalError("the mailbox was not given") }
    return mailbox
  }
}

/// What a block leaves behind.
private final class Kept: @unchecked Sendable {
  // SAFETY: written by one thread at a time: before a signal, and read after it.
  var iterator: RJIterator?
  var error: RJError?
}

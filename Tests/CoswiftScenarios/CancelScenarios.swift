// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import coswift

extension Scenario {
  static let cancelScenarios = [
    Scenario(
      18,
      "a coroutine that is cancelled right after its launch does no work",
      expected: ["ended, cancelled: true"]
    ) { play in
      let coroutine = co_launch {
        try co_delay(0.02)
        if co_isCancelled { return }
        play.log("work")
      }
      coroutine.cancel()
      co_launch {
        coroutine.join()
        play.log("ended, cancelled: \(coroutine.isCancelled)")
        play.finish()
      }
    },
    Scenario(
      19,
      "what comes after the wait of a cancelled coroutine is not run",
      expected: ["0", "1"]
    ) { play in
      var value = 0
      let unstarted = co_launch {
        value += 1
        try co_delay(0.02)
        if co_isCancelled { return }
        value += 1
      }
      unstarted.cancel()
      co_launch {
        unstarted.join()
        // Cancelled before it started: the body does not run at all.
        play.log("\(value)")
        let started = co_launch_now {
          value += 1
          try co_delay(60)
          value += 1
        }
        started.cancelAndJoin()
        play.log("\(value)")
        play.finish()
      }
    },
    Scenario(
      20,
      "the wait of a cancelled coroutine throws, and the rest is skipped",
      expected: ["waits", "deferred", "coroutineCancelled"]
    ) { play in
      let coroutine = co_launch {
        defer { play.log("deferred") }
        play.log("waits")
        try co_delay(60)
        play.log("rest")
      }
      co_launch {
        coroutine.cancel()
        coroutine.join()
        play.log((coroutine.lastError as? COError).map { "\($0)" } ?? "none")
        play.finish()
      }
    },
    Scenario(
      22,
      "onCancel of a waiting receive and of a waiting send is called once",
      expected: [
        "receive cancelled", "receive threw coroutineCancelled", "send cancelled",
        "send threw coroutineCancelled", "nothing was sent",
      ]
    ) { play in
      let channel = Chan<Int>()
      let receiver = co_launch {
        do {
          _ = try channel.receive(onCancel: { _ in play.log("receive cancelled") })
        } catch let error as COError {
          play.log("receive threw \(error)")
        }
      }
      co_launch {
        receiver.cancelAndJoin()
        receiver.cancel()
        let sender = co_launch_now {
          do {
            try channel.send(val: 1, onCancel: { _ in play.log("send cancelled") })
          } catch let error as COError {
            play.log("send threw \(error)")
          }
        }
        sender.cancelAndJoin()
        sender.cancel()
        if channel.receive_nonblock() == nil { play.log("nothing was sent") }
        play.finish()
      }
    },
    Scenario(
      23,
      "cancelling a coroutine cancels the promise that it awaits",
      expected: ["promise cancelled", "await threw coroutineCancelled", "rejected: true"]
    ) { play in
      let promise = Promise<Int>()
      promise.onCancel { _ in play.log("promise cancelled") }
      let coroutine = co_launch {
        do {
          _ = try co_await(promise: promise)
        } catch let error as COError {
          play.log("await threw \(error)")
        }
      }
      co_launch {
        coroutine.cancelAndJoin()
        play.log("rejected: \(promise.isRejected)")
        play.finish()
      }
    },
    Scenario(
      24,
      "an await in a cancelled coroutine throws and leaves the promise alone",
      expected: ["threw coroutineCancelled", "pending: true"]
    ) { play in
      let promise = Promise<Int>()
      let coroutine = co_launch_now {
        try? co_delay(60)
        do {
          _ = try co_await(promise: promise)
        } catch let error as COError {
          play.log("threw \(error)")
        }
      }
      co_launch {
        coroutine.cancelAndJoin()
        play.log("pending: \(promise.isPending)")
        play.finish()
      }
    },
  ]
}

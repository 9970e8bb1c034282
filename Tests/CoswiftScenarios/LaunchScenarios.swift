// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import coswift

extension Scenario {
  static let launchScenarios = [
    Scenario(
      1,
      "launches run after the block, in order, and delays come in the order of time",
      expected: ["0", "1", "3", "2-delay-1", "2"]
    ) { play in
      let a = co_launch { play.log("1") }
      let b = co_launch {
        // Far apart: each counts from where its own coroutine begins.
        try co_delay(4)
        play.log("2")
      }
      let c = co_launch {
        try co_delay(1)
        play.log("2-delay-1")
      }
      let d = co_launch { play.log("3") }
      let queues = ["e", "f"].map { DispatchQueue(label: $0) }
      // On other queues, so in no order with the rest: they only have to have run.
      let others = queues.map { queue in
        co_launch(queue: queue) { dispatchPrecondition(condition: .onQueue(queue)) }
      }
      play.log("0")
      co_launch {
        for coroutine in [a, b, c, d] + others { coroutine.join() }
        play.finish()
      }
    },
    Scenario(
      2,
      "co_launch_now runs at once, co_launch after the block",
      expected: ["now", "testForLaunch", "coroutine 1", "coroutine 2"]
    ) { play in
      co_launch { play.log("coroutine 1") }
      co_launch_now { play.log("now") }
      co_launch {
        play.log("coroutine 2")
        play.finish()
      }
      play.log("testForLaunch")
    },
    Scenario(
      3,
      "resumeNow runs inline on its own queue, and later on another",
      expected: ["inline", "after inline", "elsewhere"]
    ) { play in
      let here = Coroutine(block: { play.log("inline") })
      here.resumeNow()
      play.log("after inline")
      let other = DispatchQueue(label: "other")
      let there = Coroutine(
        block: {
          dispatchPrecondition(condition: .onQueue(other))
          play.log("elsewhere")
          play.finish()
        },
        on: other
      )
      there.resumeNow()
    },
    Scenario(
      4,
      "resuming twice runs the body once",
      expected: ["body", "joined"]
    ) { play in
      let coroutine = Coroutine(block: { play.log("body") })
      _ = coroutine.resume()
      _ = coroutine.resume()
      coroutine.resumeNow()
      co_launch {
        coroutine.join()
        play.log("joined")
        play.finish()
      }
    },
    Scenario(
      6,
      "co_launch stays on the current queue, co_launch_onqueue goes to the given one",
      expected: ["here", "here after a wait", "there", "there after a wait"]
    ) { play in
      let other = DispatchQueue(label: "other")
      let queue = play.queue
      let first = co_launch {
        dispatchPrecondition(condition: .onQueue(queue))
        play.log("here")
        try co_delay(0.01)
        dispatchPrecondition(condition: .onQueue(queue))
        play.log("here after a wait")
      }
      co_launch_onqueue(other) {
        first.join()
        dispatchPrecondition(condition: .onQueue(other))
        play.log("there")
        try co_delay(0.01)
        dispatchPrecondition(condition: .onQueue(other))
        play.log("there after a wait")
        play.finish()
      }
    },
    Scenario(
      7,
      "a delay suspends its coroutine and not the queue",
      expected: ["b", "plain block", "a"]
    ) { play in
      co_launch {
        // Long, since the plain block comes no sooner than the machine lets it.
        try co_delay(3)
        play.log("a")
        play.finish()
      }
      co_launch { play.log("b") }
      play.queue.async { play.log("plain block") }
    },
    Scenario(
      11,
      "locals survive any number of waits",
      expected: ["200 4950 4950"]
    ) { play in
      var turns = 0
      var first = 0
      let quiet = co_launch {
        var sum = 0
        for number in 0..<100 {
          sum += number
          turns += 1
          try co_delay(0)
        }
        first = sum
      }
      co_launch {
        var sum = 0
        for number in 0..<100 {
          sum += number
          turns += 1
          try co_delay(0)
        }
        quiet.join()
        play.log("\(turns) \(first) \(sum)")
        play.finish()
      }
    },
    Scenario(
      12,
      "all that are ready run one after another before the next block of the queue",
      expected: ["waiting 3", "open", "through 0", "through 1", "through 2", "next block"]
    ) { play in
      let gate = Chan<Int>.expandable()
      var waiting = 0
      for number in 0..<3 {
        co_launch {
          waiting += 1
          _ = try gate.receive()
          play.log("through \(number)")
        }
      }
      co_launch {
        play.log("waiting \(waiting)")
        play.log("open")
        // Queued before the three are woken.
        play.queue.async {
          play.log("next block")
          play.finish()
        }
        for number in 0..<3 { gate.send_nonblock(val: number) }
      }
    },
  ]
}

// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import coswift

extension Scenario {
  static let channelScenarios = [
    Scenario(
      17,
      "a consumer waits for what a producer brings later",
      expected: ["waits for data", "data comes", "test data has arrived!"]
    ) { play in
      let channel = Chan<String>(buffCount: 1)
      co_launch {
        play.log("waits for data")
        play.log("test data\(try channel.receive())")
        play.finish()
      }
      co_launch {
        try co_delay(0.02)
        play.log("data comes")
        try co_delay(0.02)
        try channel.send(val: " has arrived!")
      }
    },
    Scenario(
      39,
      "an unbuffered send waits for its receiver, who goes on first",
      expected: ["step 1", "step 3", "got 111", "step 4", "step 2"]
    ) { play in
      sendAndTake(play, Chan<Int>(buffCount: 0))
    },
    Scenario(
      40,
      "a send into a buffer does not wait",
      expected: ["step 1", "step 2", "step 3", "got 111", "step 4"]
    ) { play in
      sendAndTake(play, Chan<Int>(buffCount: 2))
    },
    Scenario(
      41,
      "a sender that finds a receiver goes on first",
      expected: ["step 1", "step 3", "step 4", "got 111", "step 2"]
    ) { play in
      let channel = Chan<Int>(buffCount: 0)
      let a = co_launch {
        play.log("step 1")
        let value = try channel.receive()
        play.log("got \(value)")
        play.log("step 2")
      }
      let b = co_launch {
        play.log("step 3")
        try channel.send(val: 111)
        play.log("step 4")
      }
      join(play, a, b)
    },
    Scenario(
      42,
      "send_nonblock does not wait, and a buffer keeps its value",
      expected: ["step 1", "step 2", "step 3", "got Optional(111)"]
    ) { play in
      sendWithoutWaiting(play, Chan<Int>(buffCount: 1))
    },
    Scenario(
      43,
      "send_nonblock drops the value if there is no room and no receiver",
      expected: ["step 1", "step 2", "step 3", "got nil"]
    ) { play in
      sendWithoutWaiting(play, Chan<Int>(buffCount: 0))
    },
    Scenario(
      44,
      "several receivers wait in line",
      expected: [
        "a waits", "b waits", "c sends 111", "c sends 222", "c is done", "a got 111", "b got 222",
      ]
    ) { play in
      let channel = Chan<Int>(buffCount: 1)
      let a = co_launch {
        play.log("a waits")
        play.log("a got \(try channel.receive())")
      }
      let b = co_launch {
        play.log("b waits")
        play.log("b got \(try channel.receive())")
      }
      co_launch {
        play.log("c sends 111")
        try channel.send(val: 111)
        play.log("c sends 222")
        try channel.send(val: 222)
        play.log("c is done")
      }
      join(play, a, b)
    },
    Scenario(
      45,
      "an expandable channel drops nothing",
      expected: ["sent 2000, received 2000, sum 1999000"]
    ) { play in
      let channel = Chan<Int>.expandable()
      var (sent, received, sum) = (0, 0, 0)
      for number in 0..<2000 {
        co_launch {
          try channel.send(val: number)
          sent += 1
        }
      }
      for _ in 0..<2000 {
        co_launch {
          sum += try channel.receive()
          received += 1
          if received == 2000 {
            play.log("sent \(sent), received \(received), sum \(sum)")
            play.finish()
          }
        }
      }
    },
    Scenario(
      46,
      "receiveWithCount takes so many, receiveAll what is there",
      expected: ["[0, 1, 2]", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"]
    ) { play in
      let channel = Chan<Int>(buffCount: 10)
      let other = Chan<Int>(buffCount: 10)
      co_launch {
        for number in 0..<10 { channel.send_nonblock(val: number) }
        for number in 0..<10 { other.send_nonblock(val: number) }
      }
      co_launch {
        play.log("\(try channel.receiveWithCount(count: 3))")
        play.log("\(try other.receiveAll())")
        play.finish()
      }
    },
    Scenario(
      47,
      "receiveAll waits for the first value, receiveWithCount for the last",
      expected: ["waits", "[1]", "[2, 3, 4]"]
    ) { play in
      let channel = Chan<Int>()
      co_launch {
        play.log("waits")
        play.log("\(try channel.receiveAll())")
        play.log("\(try channel.receiveWithCount(count: 3))")
        play.finish()
      }
      co_launch {
        for number in 1...4 {
          try co_delay(0.005)
          try channel.send(val: number)
        }
      }
    },
    Scenario(
      49,
      "an await gets what a block of another queue sends later",
      expected: ["the result"]
    ) { play in
      let other = DispatchQueue(label: "other")
      func fetch() -> Chan<String> {
        // Room for one: it is not lost if the await comes later still.
        let channel = Chan<String>(buffCount: 1)
        other.asyncAfter(deadline: .now() + 0.05) { channel.send_nonblock(val: "the result") }
        return channel
      }
      co_launch {
        play.log(try co_await(channel: fetch()))
        play.finish()
      }
    },
    Scenario(
      50,
      "an await gets what an inner coroutine sends",
      expected: ["value"]
    ) { play in
      co_launch {
        let value: String = try co_await {
          let channel = Chan<String>()
          co_launch { try channel.send(val: "value") }
          return channel
        }
        play.log(value)
        play.finish()
      }
    },
    Scenario(
      52,
      "sending to itself through an unbuffered channel waits for ever, a buffer helps",
      expected: ["buffered: 1", "unbuffered: still in its send"]
    ) { play in
      var reached = false
      let stuck = co_launch {
        let channel = Chan<Int>()
        try channel.send(val: 1)
        reached = true
        _ = try co_await(channel: channel)
      }
      co_launch {
        let channel = Chan<Int>(buffCount: 1)
        try channel.send(val: 1)
        play.log("buffered: \(try co_await(channel: channel))")
        try co_delay(0.02)
        play.log("unbuffered: \(reached ? "went on" : "still in its send")")
        stuck.cancelAndJoin()
        play.finish()
      }
    },
    Scenario(
      53,
      "an error that is sent through a channel is a value",
      expected: ["error 10000", "no error"]
    ) { play in
      let channel = Chan<NSError>(buffCount: 1)
      co_launch {
        try channel.send(val: NSError(domain: "error", code: 10000))
        let value = try co_await(channel: channel)
        play.log("\(value.domain) \(value.code)")
        play.log(co_getError() == nil ? "no error" : "an error")
        play.finish()
      }
    },
  ]

  private static func sendAndTake(_ play: Play, _ channel: Chan<Int>) {
    let a = co_launch {
      play.log("step 1")
      try channel.send(val: 111)
      play.log("step 2")
    }
    let b = co_launch {
      play.log("step 3")
      play.log("got \(channel.receive_nonblock() ?? 0)")
      play.log("step 4")
    }
    join(play, a, b)
  }

  private static func sendWithoutWaiting(_ play: Play, _ channel: Chan<Int>) {
    let a = co_launch {
      play.log("step 1")
      channel.send_nonblock(val: 111)
      play.log("step 2")
    }
    let b = co_launch {
      play.log("step 3")
      play.log("got \(String(describing: channel.receive_nonblock()))")
    }
    join(play, a, b)
  }

  static func join(_ play: Play, _ coroutines: Coroutine...) {
    co_launch {
      for coroutine in coroutines { coroutine.join() }
      play.finish()
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
// The names are those of the document.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoroutineTestSupport
import CoswiftScenarios
import Dispatch
import Foundation
import Testing
import coswift

/// "Learning coobjc", sections "COChan" and "Back to await": the samples with channels, and the questions.
@Suite(.timeLimit(.minutes(30))) struct LearningChannelTests {
  // testForChannelWithNoCache, whose code the document leaves to its demo: a receive and a send, in each of
  // the forms that the reader is asked to think about.
  static let blocking = Scenario(
    "Learning coobjc, testForChannelWithNoCache",
    expected: ["receives", "sends", "sent", "received 1"]
  ) { play in
    let channel = COChan<Int>()
    let receiver = co_launch {
      play.log("receives")
      play.log("received \(try channel.receive())")
    }
    let sender = co_launch {
      play.log("sends")
      try channel.send(val: 1)
      play.log("sent")
    }
    play.finish(after: receiver, sender)
  }

  @Test func `without a buffer a receive waits for a send`() {
    check(Self.blocking)
  }

  static let neitherBlocks = Scenario(
    "Learning coobjc, both without waiting",
    expected: ["received nil", "sent", "received nil"]
  ) { play in
    let channel = COChan<Int>()
    // Neither has to be in a coroutine.
    play.log("received \(channel.receive_nonblock().map { "\($0)" } ?? "nil")")
    channel.send_nonblock(val: 1)
    play.log("sent")
    play.log("received \(channel.receive_nonblock().map { "\($0)" } ?? "nil")")
    play.finish()
  }

  @Test func `if neither waits, the value is dropped`() {
    check(Self.neitherBlocks)
  }

  static let oneBlocks = Scenario(
    "Learning coobjc, one of both without waiting",
    expected: ["received 1", "received 2", "sent 2"]
  ) { play in
    let channel = COChan<Int>()
    let receiver = co_launch { play.log("received \(try channel.receive())") }
    co_launch {
      // Somebody receives: it is given to them.
      channel.send_nonblock(val: 1)
      let sender = co_launch {
        try channel.send(val: 2)
        play.log("sent 2")
      }
      receiver.join()
      try co_delay(0)
      // Somebody sends: it is taken from them.
      play.log("received \(channel.receive_nonblock().map { "\($0)" } ?? "nil")")
      play.finish(after: sender)
    }
  }

  @Test func `if one of both waits, the other one finds it`() {
    check(Self.oneBlocks)
  }

  // testForAwaitChan with co_fetchSomething: send_nonblock on a global queue. As in the user guide, the channel
  // needs room for a value that comes before the await.
  private static func awaitChan(_ number: Int, expected: [String]) -> Scenario {
    Scenario("Learning coobjc, testForAwaitChan", expected: expected) { play in
      func co_fetchSomething() -> COChan<Any> {
        let chan = COChan<Any>(buffCount: 1)
        DispatchQueue.global().async {
          if number != 0 {
            chan.send_nonblock(val: number)
          } else {
            chan.send_nonblock(val: NSError(domain: "error", code: 10000))
          }
        }
        return chan
      }
      let coroutine = co_launch {
        let ret = try co_await(channel: co_fetchSomething())
        play.log(
          "\((ret as? Int).map { "value \($0)" } ?? "error \((ret as? NSError)?.code ?? 0)")"
        )
        // It came as a value: channels have no errors of the sender's.
        play.log("co_getError \(co_getError() == nil ? "nil" : "?")")
      }
      play.finish(after: coroutine)
    }
  }

  static let value = awaitChan(1, expected: ["value 1", "co_getError nil"])
  static let errorAsValue = awaitChan(0, expected: ["error 10000", "co_getError nil"])

  @Test func `an error that is sent through a channel comes out as a value`() {
    check(Self.value)
    check(Self.errorAsValue)
  }

  // co_fetchSomething1: send in a coroutine of its own
  static let ownCoroutine = Scenario(
    "Learning coobjc, co_fetchSomething1",
    expected: ["value 1"]
  ) { play in
    func co_fetchSomething1() -> COChan<Int> {
      let chan = COChan<Int>()
      co_launch { try chan.send(val: 1) }
      return chan
    }
    let coroutine = co_launch { play.log("value \(try co_await(channel: co_fetchSomething1()))") }
    play.finish(after: coroutine)
  }

  @Test func `a send in a coroutine of its own waits for the await`() {
    check(Self.ownCoroutine)
  }

  // "What if send_nonblock is changed into send?" "send blocking must call in a coroutine."
  @Test func `a send on a plain queue is an error`() {
    let chan = COChan<Int>()
    #expect(throws: COError.invalidCoroutine) {
      try DispatchQueue(label: "plain").sync { try chan.send(val: 1) }
    }
    #expect(throws: COError.invalidCoroutine) { try chan.receive() }
  }

  // "What if co_launch is commented out?" Then the send waits, and the await behind it is never reached.
  static let sameCoroutine = Scenario(
    "Learning coobjc, send and await in the same coroutine",
    expected: ["sends", "waits still", "threw coroutineCancelled"]
  ) { play in
    let coroutine = co_launch {
      let chan = COChan<Int>()
      play.log("sends")
      do {
        try chan.send(val: 1)
        play.log("awaited \(try co_await(channel: chan))")
      } catch {
        play.log("threw \(error)")
      }
    }
    co_launch {
      play.log(coroutine.isFinished ? "is finished" : "waits still")
      coroutine.cancel()
    }
    play.finish(after: coroutine)
  }

  @Test func `a coroutine that sends to itself waits until somebody cancels it`() {
    check(Self.sameCoroutine)
  }

  // chan, chanWithBuffCount:, expandableChan: "with either of the latter the send does not wait".
  @Test(arguments: [1, 2, -1] as [Int32])
  func `with room in the channel a coroutine can send to itself`(_ buffCount: Int32) throws {
    let received = Cell(0)
    try inCoroutine {
      let chan = COChan<Int>(buffCount: buffCount)
      try chan.send(val: 1)
      received.value = try co_await(channel: chan)
    }
    #expect(received.value == 1)
  }
}

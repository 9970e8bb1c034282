// SPDX-License-Identifier: Apache-2.0
// The names are those of the document.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoroutineTestSupport
import CoswiftScenarios
import Dispatch
import Testing
import coswift

/// "User guide", section 5, "COChan".
///
/// The numbers in the comments are the document's.
@Suite(.timeLimit(.minutes(30))) struct GuideChannelTests {
  // "Used like a promise": co_fetchSomething
  static let likeAPromise = Scenario(
    "User guide 5, like a promise",
    expected: ["result"]
  ) { play in
    let someQueue = DispatchQueue(label: "some")
    func co_fetchSomething() -> COChan<String> {
      let chan = COChan<String>(buffCount: 1)
      someQueue.async { chan.send_nonblock(val: "result") }
      return chan
    }
    let coroutine = co_launch { play.log(try co_await(channel: co_fetchSomething())) }
    play.finish(after: coroutine)
  }

  // The document's channel keeps nothing, so it loses the result if the block is quicker than the await; one
  // place in the buffer is what it needs. With none, the await has to come first:
  @Test func `a function that works elsewhere gives its result through a channel`() {
    check(Self.likeAPromise)
  }

  static let likeAPromiseUnbuffered = Scenario(
    "User guide 5, like a promise, unbuffered",
    expected: ["result"]
  ) { play in
    let chan = COChan<String>()
    let coroutine = co_launch { play.log(try co_await(channel: chan)) }
    co_launch { chan.send_nonblock(val: "result") }
    play.finish(after: coroutine)
  }

  @Test func `a channel that keeps nothing needs the await before the send`() {
    check(Self.likeAPromiseUnbuffered)
  }

  // "Producer and consumer"
  static let producer = Scenario(
    "User guide 5, producer and consumer",
    expected: ["[0, 1, 2]", "[3, 4, 5, 6, 7, 8, 9]"]
  ) { play in
    let chan = COChan<Int>(buffCount: 10)
    co_launch {
      for i in 0..<10 { chan.send_nonblock(val: i) }
    }
    let coroutine = co_launch {
      let dataWithCount = try chan.receiveWithCount(count: 3)
      play.log("\(dataWithCount)")
      let data = try chan.receiveAll()
      play.log("\(data)")
    }
    play.finish(after: coroutine)
  }

  @Test func `a consumer takes three of ten values, and then all that are left`() {
    check(Self.producer)
  }

  // chanWithBuffCount:0
  static let unbuffered = Scenario(
    "User guide 5, a send without a buffer",
    expected: ["1", "3", "got 111", "4", "2"]
  ) { play in
    let chan = COChan<Int>(buffCount: 0)
    let first = co_launch {
      play.log("1")  // @1
      try chan.send(val: 111)  // @2
      play.log("2")  // @6
    }
    let second = co_launch {
      play.log("3")  // @3
      let value = chan.receive_nonblock()  // @4
      play.log("got \(value ?? 0)")
      play.log("4")  // @5
    }
    play.finish(after: first, second)
  }

  @Test func `without a buffer the code behind a send runs after the receive`() {
    check(Self.unbuffered)
  }

  // chanWithBuffCount:2
  static let buffered = Scenario(
    "User guide 5, a send into a buffer",
    expected: ["1", "2", "3", "got 111", "4"]
  ) { play in
    let chan = COChan<Int>(buffCount: 2)
    let first = co_launch {
      play.log("1")  // @1
      try chan.send(val: 111)  // @2
      play.log("2")  // @3
    }
    let second = co_launch {
      play.log("3")  // @4
      let value = chan.receive_nonblock()  // @5
      play.log("got \(value ?? 0)")
      play.log("4")  // @6
    }
    play.finish(after: first, second)
  }

  @Test func `with a buffer a send does not wait`() {
    check(Self.buffered)
  }

  // "If there are no data, a receive waits"
  static let receive = Scenario(
    "User guide 5, a receive waits",
    expected: ["1", "3", "4", "got 111", "2"]
  ) { play in
    let chan = COChan<Int>()
    let first = co_launch {
      play.log("1")  // @1
      let value = try chan.receive()  // @2
      play.log("got \(value)")
      play.log("2")  // @6
    }
    let second = co_launch {
      play.log("3")  // @3
      try chan.send(val: 111)  // @4
      play.log("4")  // @5
    }
    play.finish(after: first, second)
  }

  @Test func `a receive from an empty channel waits, and its sender goes on first`() {
    check(Self.receive)
  }

  // it(@"send non blocking will not block the coroutine.")
  static let sendNonblock = Scenario(
    "User guide 5, send_nonblock does not block",
    expected: ["a: 1", "b: 2", "b: 3, got Optional(111)", "the next block: 3"]
  ) { play in
    // The document's step, which is looked at in the queue's next block.
    nonisolated(unsafe) var step = 0
    let chan = COChan<Int>(buffCount: 1)
    co_launch {
      step = 1
      chan.send_nonblock(val: 111)
      play.log("a: \(step)")
      step = 2
    }
    co_launch {
      play.log("b: \(step)")
      step = 3
      let value = chan.receive_nonblock()
      play.log("b: \(step), got \(String(describing: value))")
    }
    play.queue.async {
      play.log("the next block: \(step)")
      play.finish()
    }
  }

  @Test func `send_nonblock does not block the coroutine`() {
    check(Self.sendNonblock)
  }

  // it(@"Channel buff is full, send non blocking will abandon the value.")
  static let abandon = Scenario(
    "User guide 5, send_nonblock abandons",
    expected: ["a: 1", "b: 2", "b: 3, got nil", "the next block: 3"]
  ) { play in
    nonisolated(unsafe) var step = 0
    let chan = COChan<Int>()
    co_launch {
      step = 1
      chan.send_nonblock(val: 111)
      play.log("a: \(step)")
      step = 2
    }
    co_launch {
      play.log("b: \(step)")
      step = 3
      let value = chan.receive_nonblock()
      play.log("b: \(step), got \(String(describing: value))")
    }
    play.queue.async {
      play.log("the next block: \(step)")
      play.finish()
    }
  }

  @Test func `send_nonblock abandons the value when the channel is full`() {
    check(Self.abandon)
  }

  // it(@"receive can block muti coroutine.")
  static let several = Scenario(
    "User guide 5, receive can block several coroutines",
    expected: [
      "b: 1", "c: 3", "c: 5", "c: 6", "a: 7, got 111", "b: 2, got 222", "the next block: 4",
    ]
  ) { play in
    nonisolated(unsafe) var step = 0
    let chan = COChan<Int>(buffCount: 1)
    co_launch {
      step = 1
      let value = try chan.receive()
      play.log("a: \(step), got \(value)")
      step = 2
    }
    co_launch {
      play.log("b: \(step)")
      step = 3
      let value = try chan.receive()
      play.log("b: \(step), got \(value)")
      step = 4
    }
    co_launch {
      play.log("c: \(step)")
      step = 5
      try chan.send(val: 111)
      play.log("c: \(step)")
      step = 6
      try chan.send(val: 222)
      play.log("c: \(step)")
      step = 7
    }
    play.queue.async {
      play.log("the next block: \(step)")
      play.finish()
    }
  }

  @Test func `several coroutines wait in a receive, and are served in the order of their coming`() {
    check(Self.several)
  }

  // it(@"expandableChan will not abandon values.")
  static let expandable = Scenario(
    "User guide 5, expandableChan",
    expected: ["received 2000, sum 1999000, sent 2000"]
  ) { play in
    var receiveCount = 0
    var receiveValue = 0
    var sendCount = 0
    let chan = COChan<Int>.expandable()
    for i in 0..<2000 {
      co_launch {
        try chan.send(val: i)
        sendCount += 1
      }
    }
    for _ in 0..<2000 {
      co_launch {
        let value = try chan.receive()
        receiveCount += 1
        receiveValue += value
      }
    }
    co_launch {
      play.log("received \(receiveCount), sum \(receiveValue), sent \(sendCount)")
      play.finish()
    }
  }

  @Test func `an expandable channel keeps two thousand values`() {
    check(Self.expandable)
  }

  // The interface: chan, chanWithBuffCount:, expandableChan, send:, send:onCancel:, send_nonblock:,
  // receive, receiveWithOnCancel:, receive_nonblock, receiveAll, receiveWithCount:
  @Test func `a wait that is cancelled calls its block once, and leaves the channel as it was`()
    throws
  {
    let log = Log()
    try inCoroutine {
      let full = COChan<Int>()
      let sender = co_launch {
        try full.send(val: 1, onCancel: { _ in log("send cancelled") })
      }
      let empty = COChan<Int>()
      let receiver = co_launch {
        _ = try empty.receive(onCancel: { _ in log("receive cancelled") })
      }
      try co_delay(0)
      sender.cancelAndJoin()
      receiver.cancelAndJoin()
      #expect(full.receive_nonblock() == nil)
      empty.send_nonblock(val: 2)
      #expect(empty.receive_nonblock() == nil)
    }
    #expect(log.entries == ["send cancelled", "receive cancelled"])
  }

  // "If nil is sent, [NSNull null] is received". In a channel of optionals nil is a value (C6).
  @Test func `nil comes out of a channel as nil`() throws {
    try inCoroutine {
      let chan = COChan<Int?>.expandable()
      for value in [1, nil, 3] { try chan.send(val: value) }
      #expect(try chan.receiveWithCount(count: 2) == [1, nil])
      chan.send_nonblock(val: nil)
      #expect(try chan.receiveAll() == [3, nil])
    }
  }

  // receiveAll: "if there are no data it waits until there is one"
  @Test func `receiveAll waits for one value, receiveWithCount for all that it wants`() throws {
    let log = Log()
    try inCoroutine {
      let chan = COChan<Int>.expandable()
      let all = co_launch { log("all \(try chan.receiveAll())") }
      try co_delay(0)
      log("send")
      try chan.send(val: 1)
      all.join()
      let two = co_launch { log("two \(try chan.receiveWithCount(count: 2))") }
      try chan.send(val: 2)
      try co_delay(0)
      log("send again")
      try chan.send(val: 3)
      two.join()
    }
    #expect(log.entries == ["send", "all [1]", "send again", "two [2, 3]"])
  }
}

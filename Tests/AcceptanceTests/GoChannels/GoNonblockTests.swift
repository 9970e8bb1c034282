// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `nonblock`: operations that do not wait, for values of several sizes, with and without room.
@Suite(.timeLimit(.minutes(30))) struct GoNonblockTests {
  /// Sends and receives with `Default` until a partner is there, in many orders.
  private func meet<Value: Equatable & Sendable>(_ value: Value, _ other: Value, _ capacity: Int)
    throws
  {
    try GoProgram.exploreAll { program in
      let (channel, strobe) = (Channel<Value>(capacity: capacity), Channel<Void>())
      try select {
        Receive(from: channel) { _ in throw GoPanic("a value from nowhere") }
        Default {}
      }
      program.go {
        try GoPanic.unless(channel.receive() == value, "wrong value")
        try strobe.send(())
      }
      while try !select({
        Send(value, to: channel) { true }
        Default { false }
      }) { try Coroutine.yield() }
      try strobe.receive()

      program.go {
        try channel.send(other)
        try strobe.send(())
      }
      // With room, the sender is done before anybody receives.
      if capacity > 0 { try strobe.receive() }
      var received: Value?
      while received == nil {
        received = try select {
          Receive(from: channel) { $0 as Value? }
          Default { nil as Value? }
        }
        if received == nil { try Coroutine.yield() }
      }
      try GoPanic.unless(received == other, "wrong value")
      if capacity == 0 { try strobe.receive() }
    }
  }

  /// The same with the methods that never wait.
  private func meetIfReady<Value: Equatable & Sendable>(
    _ value: Value,
    _ other: Value,
    _ capacity: Int
  ) throws {
    try GoProgram.exploreAll { program in
      let channel = Channel<Value>(capacity: capacity)
      try GoPanic.unless(channel.receiveIfReady() == .empty, "a value from nowhere")
      let receiver = program.go { try channel.receive() }
      while !channel.sendIfReady(value).isSent { try Coroutine.yield() }
      try GoPanic.unless(receiver.value() == value, "wrong value")
      let sender = program.go { try channel.send(other) }
      var received: Value?
      while received == nil {
        received = channel.receiveIfReady().value
        if received == nil { try Coroutine.yield() }
      }
      try GoPanic.unless(received == other, "wrong value")
      try sender.value()
    }
  }

  private struct Wide: Equatable {
    var numbers = (1, 2, 3, 4)
    var text: String
    static func == (one: Wide, other: Wide) -> Bool {
      one.numbers == other.numbers && one.text == other.text
    }
  }

  @Test(arguments: [0, 1])
  func `a select with Default waits for nobody and meets who is there`(capacity: Int) throws {
    try meet(Int32(123), 234, capacity)
    try meet(Int64(123_456), 234_567, capacity)
    try meet(true, true, capacity)
    try meet("hello", "hello again", capacity)
    try meet(Wide(text: "hello"), Wide(text: "hello again"), capacity)
  }

  @Test(arguments: [0, 1])
  func `sendIfReady and receiveIfReady wait for nobody and meet who is there`(
    capacity: Int
  ) throws {
    try meetIfReady(Int32(123), 234, capacity)
    try meetIfReady(Int64(123_456), 234_567, capacity)
    try meetIfReady(true, true, capacity)
    try meetIfReady("hello", "hello again", capacity)
    try meetIfReady(Wide(text: "hello"), Wide(text: "hello again"), capacity)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `select3`: which operations wait for ever, which return, and which fail.
@Suite(.timeLimit(.minutes(30))) struct GoBlockingMatrixTests {
  /// What becomes of an operation that nobody comes to meet.
  enum Ending { case waits, returns, failsAsClosed }

  enum Operation: String, CaseIterable {
    case sendToNobodysChannel, receiveFromNobodysChannel
    case selectSendToNobodysChannelOrDefault, selectReceiveFromNobodysChannelOrDefault
    case sendToChannelWithRoom, receiveFromFullChannel, sendToFullChannel
    case receiveFromEmptyChannel, receiveFromEmptyChannelWithRoom
    case receiveFromClosedChannel, iterateClosedChannel, receiveIfReadyFromClosedChannel
    case sendToClosedChannel, sendIfReadyToClosedChannel
    case selectOneReceive, selectOneSend, selectSendAndReceiveOfIdleChannels
    case selectDefaultOnly, selectSendWithRoomOrDefault, selectReceiveOfKeptValueOrDefault
    case selectReceiveFromClosedChannel, selectReceiveFromClosedChannelWithAction
    case selectReceiveFromClosedChannelOrDefault
    case selectSendToClosedChannel, selectSendToClosedChannelOrDefault
    case selectSendAndReceiveOfOneChannel, selectSendAndReceiveOfOneChannelOrDefault
    case selectAfterAlone

    var ending: Ending {
      switch self {
      case .sendToNobodysChannel, .receiveFromNobodysChannel, .sendToFullChannel,
        .receiveFromEmptyChannel, .receiveFromEmptyChannelWithRoom, .selectOneReceive,
        .selectOneSend, .selectSendAndReceiveOfIdleChannels, .selectSendAndReceiveOfOneChannel:
        .waits
      case .receiveFromClosedChannel, .sendToClosedChannel, .selectReceiveFromClosedChannel,
        .selectReceiveFromClosedChannelOrDefault, .selectSendToClosedChannel,
        .selectSendToClosedChannelOrDefault:
        .failsAsClosed
      default: .returns
      }
    }

    func perform() throws {
      let (idle, other) = (nobodysChannel(), nobodysChannel())
      let room = Channel<Int>(capacity: 1)
      let full = Channel<Int>(capacity: 1)
      full.sendIfReady(7)
      let closed = Channel<Int>()
      closed.close()
      func never() throws { throw GoPanic("this clause cannot win") }

      switch self {
      case .sendToNobodysChannel: try idle.send(7)
      case .receiveFromNobodysChannel, .receiveFromEmptyChannel: _ = try idle.receive()
      case .receiveFromEmptyChannelWithRoom: _ = try room.receive()
      case .selectSendToNobodysChannelOrDefault:
        try select {
          Send(7, to: idle) { try never() }
          Default {}
        }
      case .selectReceiveFromNobodysChannelOrDefault:
        try select {
          Receive(from: idle) { _ in try never() }
          Default {}
        }
      case .sendToChannelWithRoom: try room.send(7)
      case .receiveFromFullChannel: try GoPanic.unless(full.receive() == 7, "another value")
      case .sendToFullChannel: try full.send(8)
      case .receiveFromClosedChannel: _ = try closed.receive()
      case .iterateClosedChannel: for _ in closed { try never() }
      case .receiveIfReadyFromClosedChannel:
        for _ in 0..<10 { try GoPanic.unless(closed.receiveIfReady() == .closed, "not closed") }
      case .sendToClosedChannel: try closed.send(7)
      case .sendIfReadyToClosedChannel:
        try GoPanic.unless(closed.sendIfReady(7) == .closed(7), "not closed")
      case .selectOneReceive: try select { Receive(from: idle) { _ in try never() } }
      case .selectOneSend: try select { Send(7, to: idle) { try never() } }
      case .selectSendAndReceiveOfIdleChannels:
        try select {
          Receive(from: idle) { _ in try never() }
          Send(7, to: other) { try never() }
        }
      case .selectDefaultOnly: try select { Default {} }
      case .selectSendWithRoomOrDefault:
        try select {
          Send(7, to: room)
          Default { try never() }
        }
      case .selectReceiveOfKeptValueOrDefault:
        try select {
          Receive(from: full) { try GoPanic.unless($0 == 7, "another value") }
          Default { try never() }
        }
      case .selectReceiveFromClosedChannel:
        try select { Receive(from: closed) { _ in try never() } }
      case .selectReceiveFromClosedChannelWithAction:
        try select { Receive(from: closed, whenClosed: {}) { _ in try never() } }
      case .selectReceiveFromClosedChannelOrDefault:
        try select {
          Receive(from: closed) { _ in try never() }
          Default { try never() }
        }
      case .selectSendToClosedChannel: try select { Send(7, to: closed) { try never() } }
      case .selectSendToClosedChannelOrDefault:
        try select {
          Send(7, to: closed) { try never() }
          Default { try never() }
        }
      case .selectSendAndReceiveOfOneChannel:
        try select {
          Send(1, to: idle) { try never() }
          Receive(from: idle) { _ in try never() }
        }
      case .selectSendAndReceiveOfOneChannelOrDefault:
        try select {
          Send(1, to: idle) { try never() }
          Receive(from: idle) { _ in try never() }
          Default {}
        }
      case .selectAfterAlone: try select { After(.seconds(3600)) {} }
      }
    }
  }

  @Test(arguments: Operation.allCases)
  func `each operation waits for ever, returns or fails, as its channels are`(
    operation: Operation
  ) throws {
    let work = { try TestScheduler().run { try operation.perform() } }
    switch operation.ending {
    case .waits: #expect(throws: Deadlock.self) { try work() }
    case .returns: #expect(throws: Never.self) { try work() }
    case .failsAsClosed: #expect(throws: ChannelError.closed) { try work() }
    }
  }

  @Test(arguments: Operation.allCases.filter { $0.ending == .waits })
  func `on an event loop, what waits for ever lets others run and can be cancelled`(
    operation: Operation
  ) throws {
    try runBlocking {
      let waiting = launch { try operation.perform() }
      try letGoroutinesRun()
      #expect(!waiting.isFinished)
      try waiting.cancelAndJoin()
      #expect(waiting.error is CancellationError)
    }
  }
}

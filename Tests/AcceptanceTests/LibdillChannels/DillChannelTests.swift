// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `chan.c`: rendezvous, order, closing, cancelling, deadlines.
@Suite(.timeLimit(.minutes(30))) struct DillChannelTests {
  // MARK: - Who waits for whom

  @Test(arguments: [false, true])
  func `sender and receiver wait for each other, whoever is first`(isReceiverFirst: Bool) throws {
    try explore {
      let channel = Channel<Int>()
      let sender = launch {
        if isReceiverFirst { try Coroutine.yield() }
        try channel.send(333)
      }
      if !isReceiverFirst { try Coroutine.yield() }
      try DillFailure.unless(channel.receive() == 333, "another value")
      try sender.value()
    }
  }

  @Test(arguments: [false, true])
  func `a value without a size is waited for like any other`(isReceiverFirst: Bool) throws {
    try explore {
      let channel = Channel<Void>()
      var hasSent = false
      let sender = launch {
        if isReceiverFirst { try Coroutine.yield() }
        try channel.send(())
        hasSent = true
      }
      if !isReceiverFirst { try Coroutine.yield() }
      try channel.receive()
      try sender.value()
      try DillFailure.unless(hasSent, "not sent")
    }
  }

  @Test func `of two senders that wait the first is received from first`() throws {
    try DillProgram.run { _ in
      let channel = Channel<Int>()
      let senders = [888, 999].map { value in launch { try channel.send(value) } }
      try #expect(channel.receive() == 888)
      try Coroutine.yield()
      try #expect(channel.receive() == 999)
      for sender in senders { try sender.value() }
    }
  }

  @Test func `of two receivers that wait the first gets the first value`() throws {
    try DillProgram.run { _ in
      let channel = Channel<Int>()
      let receivers = (0..<2).map { _ in launch { try channel.receive() } }
      try Coroutine.yield()
      try channel.send(333)
      try channel.send(444)
      try #expect(receivers.map { try $0.value() } == [333, 444])
    }
  }

  // MARK: - chdone

  @Test func `a channel that is done says so each time`() throws {
    try DillProgram.run { _ in
      let channel = Channel<Int>()
      channel.close()
      for _ in 0..<3 {
        try #expect(DillEnding(of: { _ = try channel.receive() }) == .closed)
        try #expect(DillEnding(of: { try channel.send(1) }) == .closed)
      }
      // Once more is no error.
      channel.close()
      #expect(channel.isClosed)
    }
  }

  @Test func `in all orders, being done wakes all receivers, and the way back stays open`() throws {
    let exploration = try explore {
      let pipe = DillPipe()
      let receivers = (0..<2).map { number in
        launch {
          try DillFailure.unless(
            DillEnding(of: { _ = try pipe.there.receive() }) == .closed,
            "not closed"
          )
          try pipe.back.send(number)
        }
      }
      try Coroutine.yield()
      pipe.there.close()
      let numbers = [try pipe.back.receive(), try pipe.back.receive()]
      try DillFailure.unless(numbers.sorted() == [0, 1], "\(numbers)")
      for receiver in receivers { try receiver.value() }
    }
    #expect(exploration.isComplete)
  }

  @Test func `in all orders, being done wakes all senders, and nothing of theirs is received`()
    throws
  {
    let exploration = try explore(.exhaustive(delays: 3)) {
      let channel = Channel<Int>()
      let senders = (0..<3).map { number in
        launch { try DillEnding(of: { try channel.send(number) }) }
      }
      try Coroutine.sleep(for: .milliseconds(50))
      channel.close()
      for sender in senders { try DillFailure.unless(sender.value() == .closed, "sent") }
      try DillFailure.unless(channel.receiveIfReady() == .closed, "something is left")
    }
    #expect(exploration.isComplete)
  }

  @Test func `a channel that nobody else has any more is no reason to wake: that is a deadlock`()
    throws
  {
    // libdill's `hclose` destroys a channel under those who wait; here they hold it, and are told.
    #expect(throws: Deadlock.self) {
      try DillProgram.run { _ in
        let receivers = { () -> [ValueCoroutine<Int>] in
          let channel = Channel<Int>(name: "forgotten")
          return (0..<2).map { _ in launch { try channel.receive() } }
        }()
        for receiver in receivers { _ = try receiver.value() }
      }
    }
  }

  // MARK: - Cancelling

  /// Calls that wait.
  enum Call: CaseIterable, Sendable {
    case receive, send, chooseReceive, chooseSend, sleep, join, iterate

    func perform(on channel: Channel<Int>) throws {
      switch self {
      case .receive: _ = try channel.receive()
      case .send: try channel.send(1)
      case .chooseReceive: try select { Receive(from: channel) { _ in } }
      case .chooseSend: try select { Send(1, to: channel) }
      case .sleep: try Coroutine.sleep(for: .seconds(1000))
      case .join:
        let other = launch { try Coroutine.sleep(for: .seconds(1000)) }
        defer { other.cancel() }
        try other.join()
      case .iterate:
        for _ in channel { throw DillFailure("a value from nowhere") }
        try Coroutine.checkCancellation()
      }
    }
  }

  @Test(arguments: Call.allCases)
  func `cancelling ends a call that waits, and every later one fails at once`(call: Call) throws {
    try DillProgram.run { program in
      let channel = Channel<Int>()
      let worker = launch {
        let endings = try (0..<3).map { _ in try DillEnding(of: { try call.perform(on: channel) }) }
        return (endings, program.now)
      }
      try program.msleep(30)
      worker.cancel()
      let (endings, time) = try worker.value()
      #expect(endings == [.cancelled, .cancelled, .cancelled])
      #expect(time == 30)
      // Nobody is left in a queue.
      #expect(channel.receiveIfReady() == .empty)
      #expect(channel.sendIfReady(1) == .full(1))
    }
  }

  @Test(arguments: Call.allCases)
  func `cancelled code cannot begin a call, even one that would not have to wait`(
    call: Call
  ) throws {
    try DillProgram.run { _ in
      let channel = Channel<Int>(capacity: 2)
      try channel.send(7)
      let worker = launch(start: .immediately) {
        // Cancelled while it runs.
        Coroutine.current?.cancel()
        return try DillEnding(of: { try call.perform(on: channel) })
      }
      try #expect(worker.value() == .cancelled)
      #expect(channel.count == 1)
    }
  }

  @Test(arguments: [false, true])
  func `wherever a receiver is cancelled, no value is lost`(isSelecting: Bool) throws {
    let sweep = try sweepCancellation { victim in
      let channel = Channel<Int>()
      let receiver = launch(name: victim) { () -> [Int] in
        var values: [Int] = []
        do {
          for _ in 0..<3 {
            values.append(
              isSelecting
                ? try select { Receive(from: channel) { $0 } } : try channel.receive()
            )
          }
        } catch is CancellationError {}
        return values
      }
      let sender = launch {
        for value in 1...3 { try channel.send(value) }
        channel.close()
      }
      // A receiver that was cancelled before it began has not received.
      var values = (try? receiver.value()) ?? []
      for value in channel { values.append(value) }
      try DillFailure.unless(values == [1, 2, 3], "\(values)")
      try sender.value()
    }
    #expect(sweep.places > 0)
  }

  @Test(arguments: [false, true])
  func `wherever a sender is cancelled, a value is sent once or not at all`(
    isSelecting: Bool
  ) throws {
    let sweep = try sweepCancellation { victim in
      let channel = Channel<Int>()
      var sent = 0
      let sender = launch(name: victim) {
        for value in 1...3 {
          if isSelecting {
            try select { Send(value, to: channel) }
          } else {
            try channel.send(value)
          }
          sent = value
        }
      }
      sender.onFinish { channel.close() }
      var values: [Int] = []
      for value in channel { values.append(value) }
      try sender.join()
      try DillFailure.unless(values == Array((1...3).prefix(values.count)), "\(values)")
      // The last value may have been taken by the time the sender is cancelled behind it.
      try DillFailure.unless(values.count - sent <= 1 && values.count >= sent, "\(values), \(sent)")
    }
    #expect(sweep.places > 0)
  }

  // MARK: - Deadlines

  @Test(arguments: [Call.receive, .send, .chooseReceive, .chooseSend, .sleep, .join])
  func `a deadline ends a call that waits, at its time`(call: Call) throws {
    try DillProgram.run { program in
      let channel = Channel<Int>()
      for start in [0, 50] {
        let deadline = CoroutineClock().now.advanced(by: .milliseconds(50))
        try #expect(
          DillEnding(of: { try withDeadline(deadline) { try call.perform(on: channel) } })
            == .timedOut
        )
        #expect(program.now == start + 50)
      }
      #expect(channel.receiveIfReady() == .empty)
      #expect(channel.sendIfReady(1) == .full(1))
    }
  }

  @Test(arguments: [Call.receive, .send, .chooseReceive, .chooseSend, .sleep, .join])
  func `a deadline that has passed ends a call that would wait, at once`(call: Call) throws {
    try DillProgram.run { program in
      let channel = Channel<Int>()
      try program.msleep(10)
      let deadline = CoroutineClock().now.advanced(by: .milliseconds(-5))
      try #expect(
        DillEnding(of: { try withDeadline(deadline) { try call.perform(on: channel) } })
          == .timedOut
      )
      #expect(program.now == 10)
    }
  }

  @Test func `a deadline does not end a call that another ends before`() throws {
    try DillProgram.run { program in
      let channel = Channel<Int>()
      launch {
        try program.msleep(50)
        try channel.send(4444)
      }
      let value = try withTimeout(.milliseconds(1000)) { try channel.receive() }
      #expect(value == 4444)
      #expect(program.now == 50)
      // Nor does it come later.
      try program.msleep(2000)
    }
  }

  @Test func `cancelling is stronger than a deadline`() throws {
    try DillProgram.run { program in
      let channel = Channel<Int>()
      let worker = launch {
        try DillEnding(of: {
          _ = try withTimeout(.milliseconds(1000)) { try channel.receive() }
        })
      }
      try program.msleep(30)
      worker.cancel()
      try #expect(worker.value() == .cancelled)
      #expect(program.now == 30)
    }
  }
}

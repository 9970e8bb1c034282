// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

#if COROUTINES_CHECKED

/// Launches the parts, waits for them, and returns what they wrote.
private func run(_ parts: [(Slot) throws -> Void]) throws -> String {
  let slots = parts.map { _ in Slot() }
  let coroutines = zip(parts, slots).map { part, slot in launch { try part(slot) } }
  for coroutine in coroutines { try coroutine.join() }
  return slots.map(\.text).joined(separator: "|")
}

/// A small body, and how many outcomes it has.
private struct Sample: CustomTestStringConvertible, Sendable {
  let name: String
  /// Orders of it are alike.
  var isIndependent = false
  let outcomes: Int
  let body: @Sendable () throws -> String

  var testDescription: String { name }

  static let all: [Sample] = [
    Sample(name: "three that only give way", isIndependent: true, outcomes: 1) {
      try run(
        (1...3).map { number in
          { slot in
            try Coroutine.yield()
            slot.text = "\(number)"
          }
        }
      )
    },
    Sample(name: "two pairs, each with a channel of its own", isIndependent: true, outcomes: 1) {
      let (left, right) = (Channel<Int>(), Channel<Int>())
      return try run([
        { _ in try left.send(1) }, { slot in slot.text = "\(try left.receive())" },
        { _ in try right.send(2) }, { slot in slot.text = "\(try right.receive())" },
      ])
    },
    Sample(name: "three mutexes, one each", isIndependent: true, outcomes: 1) {
      try run(
        (1...3).map { number in
          { slot in
            let mutex = CoroutineMutex()
            try mutex.withLock { try Coroutine.yield() }
            slot.text = "\(number)"
          }
        }
      )
    },
    Sample(name: "a channel with two senders and a receiver", outcomes: 2) {
      let channel = Channel<Int>(capacity: 1)
      return try run([
        { _ in try channel.send(1) }, { _ in try channel.send(2) },
        { slot in slot.text = "\(try channel.receive())\(try channel.receive())" },
      ])
    },
    Sample(name: "a channel that is closed meanwhile", outcomes: 4) {
      let channel = Channel<Int>()
      return try run([
        { slot in
          slot.text = told {
            try channel.send(1); return "sent"
          }
        },
        { slot in slot.text = told { "\(try channel.receive())" } },
        { _ in channel.close() },
        { slot in slot.text = "\(channel.isClosed)" },
      ])
    },
    Sample(name: "a select on two channels", outcomes: 2) {
      let (left, right) = (Channel<Int>(capacity: 1), Channel<Int>(capacity: 1))
      return try run([
        { _ in try left.send(1) }, { _ in try right.send(2) },
        { slot in
          slot.text = try select {
            Receive(from: left) { "\($0)" }
            Receive(from: right) { "\($0)" }
          }
        },
      ])
    },
    Sample(name: "a select that is polled by another, after it was won elsewhere", outcomes: 3) {
      let (left, right) = (Channel<Int>(), Channel<Int>())
      return try run([
        { slot in
          slot.text = try select {
            Receive(from: left) { "\($0)" }
            Receive(from: right) { "\($0)" }
            After(.seconds(1)) { "late" }
          }
        },
        { slot in slot.text = "\(left.sendIfReady(1).isSent)" },
        { slot in
          slot.text = try select {
            Send(2, to: right) { "sent" }
            Default { "refused" }
          }
        },
      ])
    },
    Sample(name: "a mutex, and who came first", outcomes: 6) {
      let mutex = CoroutineMutex()
      var order = ""
      _ = try run(
        (1...3).map { number in
          { _ in
            try mutex.withLock {
              order += "\(number)"
              try Coroutine.yield()
            }
          }
        }
      )
      return order
    },
    Sample(name: "a semaphore that one takes only if it is free", outcomes: 2) {
      let semaphore = CoroutineSemaphore(permits: 1)
      return try run([
        { _ in
          try semaphore.acquire()
          try Coroutine.yield()
          semaphore.release()
        },
        { slot in
          slot.text = "\(semaphore.acquireIfReady())"
          if slot.text == "true" { semaphore.release() }
        },
        { _ in try Coroutine.yield() },
      ])
    },
    Sample(name: "a promise that two fulfil and two look at", outcomes: 4) {
      let promise = Promise<Int>()
      return try run([
        { _ in promise.fulfill(1) }, { _ in promise.fulfill(2) },
        { slot in slot.text = "\(try promise.await())" },
        { slot in slot.text = "\(promise.value ?? 0)" },
      ])
    },
    Sample(name: "a receiver that is cancelled while another sends", outcomes: 3) {
      let channel = Channel<Int>()
      let slot = Slot()
      let receiver = launch { slot.text = told { "\(try channel.receive())" } }
      let others = try run([
        { slot in slot.text = "\(channel.sendIfReady(1).isSent)" },
        { _ in receiver.cancel() },
      ])
      _ = told {
        try receiver.join(); return ""
      }
      return "\(slot.text)|\(others)"
    },
    Sample(name: "a look whether another has been cancelled, or has ended", outcomes: 4) {
      let victim = launch { try Coroutine.yield() }
      let seen = try run([
        { _ in victim.cancel() },
        { slot in slot.text = "\(victim.isCancelled)" },
        { slot in slot.text = "\(victim.isFinished)" },
      ])
      _ = told {
        try victim.join(); return ""
      }
      return seen
    },
    Sample(name: "a limit that ends when a value comes", outcomes: 1) {
      let channel = Channel<Int>()
      return try run([
        { slot in
          slot.text = told { try withTimeout(.seconds(1)) { "\(try channel.receive())" } }
        },
        { slot in
          try Coroutine.sleep(for: .seconds(1))
          slot.text = "\(channel.sendIfReady(1).isSent)"
        },
        { _ in try Coroutine.yield() },
      ])
    },
    Sample(name: "sleeps of one length, and a channel", outcomes: 2) {
      let channel = Channel<Int>(capacity: 2)
      return try run([
        { _ in
          try Coroutine.sleep(for: .seconds(1))
          try channel.send(1)
        },
        { _ in
          try Coroutine.sleep(for: .seconds(1))
          try channel.send(2)
        },
        { slot in slot.text = "\(try channel.receive())\(try channel.receive())" },
      ])
    },
    Sample(name: "a scope with a child that fails", outcomes: 6) {
      let channel = Channel<Int>(capacity: 1)
      let (slot, other) = (Slot(), Slot())
      let sender = launch { try channel.send(1) }
      let error = told {
        try withCoroutineScope { scope in
          scope.launch { throw ChannelError.closed }
          scope.launch { slot.text = told { "\(try channel.receive())" } }
          scope.launch { other.text = "\(scope.isCancelled)" }
        }
        return ""
      }
      try sender.join()
      return "\(error)|\(slot.text)|\(other.text)"
    },
    Sample(name: "children that run at once, and children of children", outcomes: 2) {
      let channel = Channel<Int>(capacity: 4)
      return try run([
        { _ in
          let child = launch(start: .immediately) { try channel.send(1) }
          try channel.send(2)
          try child.join()
        },
        { _ in try launch { try channel.send(3) }.join() },
        { slot in
          slot.text = try (1...3).map { _ in "\(try channel.receive())" }.joined()
        },
      ])
    },
  ]
}

/// What `explore` leaves out when it may, and that nothing is lost by it.
@Suite(.timeLimit(.minutes(30))) struct ReducedExplorationTests {
  @Test(arguments: Sample.all)
  fileprivate func `the same outcomes are found in no more runs`(_ sample: Sample) throws {
    let found = try Comparison(sample.body)
    // A row of the table in Documentation/Verification.md.
    let row: Comment =
      "| \(sample.name) | \(found.outcomes.count) | \(found.plain.runs) | \(found.reduced.runs) |"
    try #require(found.plain.isComplete && found.reduced.isComplete)
    #expect(found.reducedOutcomes == found.outcomes, row)
    #expect(found.outcomes.count == sample.outcomes, "\(found.outcomes.sorted())")
    #expect(found.reduced.runs <= found.plain.runs, row)
    if sample.isIndependent { #expect(found.reduced.runs * 5 < found.plain.runs, row) }
  }

  // MARK: - Planted bugs

  private struct Lost: Error {}

  /// Two read a cell, which is a channel with one place, give way, and write what they make of it.
  private static let lostUpdate: @Sendable () throws -> Void = {
    let cell = Channel<Int>(capacity: 1)
    try cell.send(0)
    let adders = (1...2).map { number in
      launch(name: "adder \(number)") {
        let old = try cell.receive()
        try cell.send(old)
        try Coroutine.yield()
        _ = try cell.receive()
        try cell.send(old + 1)
      }
    }
    // Has nothing to do with it.
    let others = (1...2).map { _ in launch { for _ in 0..<2 { try Coroutine.yield() } } }
    for one in adders { try one.join() }
    for one in others { try one.join() }
    if try cell.receive() != 2 { throw Lost() }
  }

  /// Each takes what the other holds.
  private static let lockOrder: @Sendable () throws -> Void = {
    let (left, right) = (CoroutineMutex(), CoroutineMutex())
    func both(_ one: CoroutineMutex, _ other: CoroutineMutex) throws {
      try one.withLock {
        try Coroutine.yield()
        try other.withLock {}
      }
    }
    let parts = [
      launch(name: "A") { try both(left, right) }, launch(name: "B") { try both(right, left) },
      launch(name: "C") { try Coroutine.yield() },
    ]
    for part in parts { try part.join() }
  }

  /// Looks whether it is open, and waits for a signal that came in between.
  private static let lostWakeUp: @Sendable () throws -> Void = {
    let isOpen = Promise<Bool>()
    let signal = Channel<Void>()
    let waiter = launch(name: "waiter") {
      if isOpen.isPending {
        try Coroutine.yield()
        try signal.receive()
      }
    }
    let opener = launch(name: "opener") {
      isOpen.fulfill(true)
      _ = signal.sendIfReady(())
    }
    try opener.join()
    try waiter.join()
  }

  fileprivate enum Plant: CaseIterable {
    case lostUpdate, lockOrder, lostWakeUp
  }

  @Test(arguments: Plant.allCases)
  fileprivate func `a planted bug is found and shown again`(_ plant: Plant) throws {
    let body =
      switch plant {
      case .lostUpdate: Self.lostUpdate
      case .lockOrder: Self.lockOrder
      case .lostWakeUp: Self.lostWakeUp
      }
    let failure = try #require(
      #expect(throws: ExplorationFailure.self) {
        try explore(sharing: .libraryObjectsOnly, body)
      }
    )
    #expect(plant == .lostUpdate ? failure.error is Lost : failure.error is Deadlock)
    for sharing in [ExplorationSharing.anything, .libraryObjectsOnly] {
      let again = try #require(
        #expect(throws: ExplorationFailure.self) {
          try explore(replay: failure.replay, sharing: sharing, body)
        }
      )
      #expect(type(of: again.error) == type(of: failure.error))
      #expect(again.table == failure.table)
    }
  }

  @Test func `what the promise leaves out is missed, and found without it`() throws {
    // A variable of the test's own is shared, which was promised not to be.
    final class Count {
      var value = 0
    }
    let body: () throws -> Void = {
      let count = Count()
      let adders = (1...2).map { _ in
        launch {
          let old = count.value
          try Coroutine.yield()
          count.value = old + 1
        }
      }
      for adder in adders { try adder.join() }
      if count.value == 2 { throw Lost() }
    }
    // First come, first served loses one of them; only when one ends before the other begins do both count.
    #expect(try explore(sharing: .libraryObjectsOnly, body).isComplete)
    #expect(throws: ExplorationFailure.self) { try explore(.exhaustive(), body) }
  }

  @Test func `a bound on delays cannot be reduced`() async {
    await #expect(processExitsWith: .failure) {
      try explore(.exhaustive(delays: 1), sharing: .libraryObjectsOnly) {}
    }
  }
}

#endif

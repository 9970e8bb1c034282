// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

#if COROUTINES_CHECKED

/// Runs a body in all orders, with and without reduction.
private struct Comparison {
  /// What the body returned in some order.
  let outcomes: Set<String>
  let reducedOutcomes: Set<String>
  let plain: Exploration
  let reduced: Exploration

  init(runs: Int = 60_000, _ body: @escaping () throws -> String) throws {
    func search(_ sharing: ExplorationSharing) throws -> (Set<String>, Exploration) {
      var outcomes: Set<String> = []
      let report = try explore(runs: runs, sharing: sharing) { outcomes.insert(try body()) }
      return (outcomes, report)
    }
    (outcomes, plain) = try search(.anything)
    (reducedOutcomes, reduced) = try search(.libraryObjectsOnly)
  }
}

/// A place that one coroutine writes to, and that is read when it has ended.
private final class Slot {
  var text = ""
}

/// Launches the parts, waits for them, and returns what they wrote.
private func run(_ parts: [(Slot) throws -> Void]) throws -> String {
  let slots = parts.map { _ in Slot() }
  let coroutines = zip(parts, slots).map { part, slot in launch { try part(slot) } }
  for coroutine in coroutines { try coroutine.join() }
  return slots.map(\.text).joined(separator: "|")
}

/// What an operation came to, as text.
private func told(_ body: () throws -> String) -> String {
  do { return try body() } catch { return "\(type(of: error))" }
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

  private enum Operation: CaseIterable {
    case send, receive, sendIfReady, receiveIfReady, close, count, lock, yield, fulfil, await, peek
    case cancel, isFinished, isCancelled, selectReceive, selectEither, selectDefault, selectLimited
    case sleep, limited, launch, state
    case takePermit, tryPermit, once, peekOnce, readLock, writeLock, signal, waitForSignal
    case scope, scopeCancel, launchAtOnce, cancelAndJoin, selectTwice
  }

  /// What the parts of a random program share.
  private final class World {
    let channels = [Channel<Int>(capacity: 0), Channel<Int>(capacity: 1)]
    let mutex = CoroutineMutex()
    let promise = Promise<Int>()
    let semaphore = CoroutineSemaphore(permits: 1)
    let once = CoroutineOnce<Int>()
    let readWrite = CoroutineReadWriteLock()
    let condition: CoroutineCondition
    /// Filled before any of them runs.
    var coroutines: [Coroutine] = []

    init() { condition = CoroutineCondition(mutex) }

    func perform(_ operation: Operation, _ part: Int, _ number: Int) throws -> String {
      let (one, other) = (channels[number % 2], channels[(number + 1) % 2])
      let value = part * 10 + number
      let victim = coroutines[(part + 1) % coroutines.count]
      switch operation {
      case .send: try one.send(value)
      case .receive: return "\(try one.receive())"
      case .sendIfReady: return "\(one.sendIfReady(value).isSent)"
      case .receiveIfReady:
        if case .received(let value) = one.receiveIfReady() { return "\(value)" }
      case .close: one.close()
      case .count: return "\(one.count)"
      case .lock: try mutex.withLock { try Coroutine.yield() }
      case .yield: try Coroutine.yield()
      case .fulfil: return "\(promise.fulfill(value))"
      case .await: return "\(try promise.await())"
      case .peek: return "\(promise.value ?? -1)"
      case .cancel: victim.cancel()
      case .isFinished: return "\(victim.isFinished)"
      case .isCancelled: return "\(victim.isCancelled)"
      case .state: return "\(victim.state == .suspended)"
      case .selectReceive:
        return try select {
          Receive(from: one) { "\($0)" }
          Receive(from: other) { "\($0)" }
        }
      case .selectEither:
        return try select {
          Send(value, to: one) { "sent" }
          Receive(from: other) { "\($0)" }
        }
      case .selectDefault:
        return try select {
          Send(value, to: other) { "sent" }
          Receive(from: one) { "\($0)" }
          Default { "none" }
        }
      case .selectLimited:
        return try select {
          Receive(from: one) { "\($0)" }
          After(.seconds(1)) { "late" }
        }
      case .sleep: try Coroutine.sleep(for: .seconds(1))
      case .limited: return "\(try withTimeout(.seconds(1)) { try other.receive() })"
      case .takePermit: try semaphore.withPermit { try Coroutine.yield() }
      case .tryPermit:
        guard semaphore.acquireIfReady() else { return "none" }
        semaphore.release()
      case .once:
        return "\(try once.value { try Coroutine.yield(); return value })"
      case .peekOnce: return "\(once.valueIfReady ?? -1)"
      case .readLock: try readWrite.withReadLock { try Coroutine.yield() }
      case .writeLock: try readWrite.withWriteLock { try Coroutine.yield() }
      case .signal: condition.signal()
      case .waitForSignal: try mutex.withLock { try condition.wait() }
      case .scope:
        return try withCoroutineScope { scope in
          let child = scope.launch { try one.receive() }
          scope.launch { try other.send(value) }
          try Coroutine.yield()
          return "\(child.isFinished)"
        }
      case .scopeCancel:
        return try withCoroutineScope { scope in
          let slot = Slot()
          scope.launch { slot.text = told { "\(try one.receive())" } }
          scope.launch { scope.cancel() }
          return slot.text
        }
      case .launchAtOnce:
        let child = Coroutines.launch(start: .immediately) { try one.receive() }
        return told { "\(try child.value())" }
      case .cancelAndJoin:
        return told {
          try victim.cancelAndJoin(); return ""
        }
      case .selectTwice:
        return try select {
          Receive(from: one) { "first \($0)" }
          Receive(from: one) { "second \($0)" }
        }
      case .launch: try Coroutines.launch { _ = one.sendIfReady(value) }.join()
      }
      return ""
    }
  }

  /// Numbers by which programs are made.
  private struct Dice {
    var state: UInt64

    mutating func roll(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(count))
    }
  }

  @Test(arguments: 0..<8)
  func `random programs come to the same with and without reduction`(_ series: Int) throws {
    var (plain, reduced, compared) = (0, 0, 0)
    for seed in 0..<16 {
      var dice = Dice(state: UInt64(series * 1_000 + seed + 1))
      for _ in 0..<5 { _ = dice.roll(2) }
      let program = (0..<(2 + dice.roll(3))).map { _ in
        (0..<(1 + dice.roll(3))).map { _ in
          (Operation.allCases[dice.roll(Operation.allCases.count)], dice.roll(2))
        }
      }
      let found = try Comparison(runs: 1_500) {
        let world = World()
        let slots = program.map { _ in Slot() }
        world.coroutines = program.indices.map { part in
          launch {
            for (operation, number) in program[part] {
              slots[part].text += told { try world.perform(operation, part, number) } + ","
            }
          }
        }
        // Whoever waits in vain is cancelled when all wait.
        try Coroutine.sleep(for: .seconds(100))
        for coroutine in world.coroutines { coroutine.cancel() }
        for coroutine in world.coroutines {
          _ = told {
            try coroutine.join(); return ""
          }
        }
        return slots.map(\.text).joined(separator: "|")
      }
      let text = "\(program.map { $0.map { "\($0.0) \($0.1)" } })"
      if found.plain.isComplete {
        compared += 1
        #expect(found.reduced.isComplete && found.reduced.runs <= found.plain.runs, "\(text)")
        #expect(found.reducedOutcomes == found.outcomes, "\(text)")
      } else if found.reduced.isComplete {
        #expect(found.outcomes.subtracting(found.reducedOutcomes).isEmpty, "\(text)")
      }
      plain += found.plain.runs
      reduced += found.reduced.runs
    }
    print(
      "series \(series): \(compared) programs compared, \(plain) runs, \(reduced) with reduction"
    )
    #expect(compared > 5)
    #expect(reduced < plain)
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

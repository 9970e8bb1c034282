// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

#if COROUTINES_CHECKED

/// Reduction loses no outcome of programs that nobody has thought of.
@Suite(.timeLimit(.minutes(30))) struct ReducedProgramTests {
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
}

#endif

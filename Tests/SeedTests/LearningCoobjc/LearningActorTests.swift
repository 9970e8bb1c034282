// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import CoswiftScenarios
import Dispatch
import Foundation
import Testing
import coswift

/// "Learning coobjc", section "Actor".
@Suite(.timeLimit(.minutes(30))) struct LearningActorTests {
  /// `@interface Counter`, guarded by `@synchronized(self)`.
  private final class LockedCounter: @unchecked Sendable {
    // SAFETY: guarded by the lock.
    private let lock = NSLock()
    private var count = 0

    func incCount() { lock.withLock { count += 1 } }

    func getCount() -> Int { lock.withLock { count } }
  }

  /// The actor of the document.
  private static func countActor(_ log: @escaping (String) -> Void) -> COActor {
    co_actor { channel in
      // The actor's state.
      var count = 0
      for message in channel {
        if message.stringType == "inc" {
          count += 1
          log("the count is \(count) now.")
        } else if message.stringType == "get" {
          message.complete(count)
          log("get the count \(count)")
        }
      }
    }
  }

  @Test func `an actor counts like a class with a lock, and needs none`() throws {
    let counter = LockedCounter()
    DispatchQueue.concurrentPerform(iterations: 100) { _ in counter.incCount() }
    #expect(counter.getCount() == 100)

    let counted = Cell(0)
    try inCoroutine {
      let actor = Self.countActor { _ in }
      DispatchQueue.concurrentPerform(iterations: 100) { _ in actor.sendMessage("inc") }
      counted.value = try co_await(promise: actor.sendMessage("get")).get() as? Int
    }
    #expect(counted.value == 100)
  }

  // testForActor. "Why is the count 0?" Because the actor has not run yet.
  static let tooEarly = Scenario(
    "Learning coobjc, testForActor",
    expected: [
      "the Actor count now is 0", "the count is 1 now.", "the count is 2 now.", "get the count 2",
    ]
  ) { play in
    let countActor = Self.countActor { play.log($0) }
    countActor.sendMessage("inc")
    countActor.sendMessage("inc")
    let completable = countActor.sendMessage("get")
    let value = completable.value
    play.log("the Actor count now is \((value as? Int) ?? 0)")
    let waiter = co_launch { try co_await(promise: completable) }
    play.finish(after: waiter) {
      // The actor has noted its last line by now: it goes on before those whom it wakes.
      withExtendedLifetime(countActor) {}
    }
  }

  @Test func `an answer that is not awaited is not there yet`() {
    check(Self.tooEarly)
  }

  // The lines of testForActor that are commented out
  static let awaited = Scenario(
    "Learning coobjc, testForActor with await",
    expected: [
      "the count is 1 now.", "the count is 2 now.", "get the count 2", "the Actor count now is 2",
    ]
  ) { play in
    let countActor = Self.countActor { play.log($0) }
    countActor.sendMessage("inc")
    countActor.sendMessage("inc")
    let coroutine = co_launch {
      let ret = try co_await(promise: countActor.sendMessage("get")).get()
      play.log("the Actor count now is \(ret as? Int ?? 0)")
    }
    play.finish(after: coroutine)
  }

  @Test func `an answer that is awaited is right`() {
    check(Self.awaited)
  }

  // complete and sendMessage: "the value of complete fulfils the promise that sendMessage returned", and a
  // message without an answer leaves an error, not a sleeper.
  @Test func `complete fulfils the sender's promise once`() throws {
    let log = Log()
    try inCoroutine {
      let actor = co_actor { channel in
        for message in channel where message.stringType == "twice" {
          message.complete(1)
          message.complete(2)
        }
      }
      let completable: COActorCompletable = actor.sendMessage("twice")
      log("\(try co_await(promise: completable).get() ?? "nil")")
      let silent = actor.sendMessage("without an answer")
      actor.cancel()
      if case .rejected = try co_await(promise: silent) { log("rejected") }
    }
    #expect(log.entries == ["1", "rejected"])
  }

  // "Which use has the model?" An order, whose states only its own actor changes.
  @Test func `an order changes its state by messages, in order`() throws {
    enum Order: String { case unpaid, paid, shipped }
    let log = Log()
    try inCoroutine {
      let order = co_actor { channel in
        var state = Order.unpaid
        for message in channel {
          switch (message.stringType, state) {
          case ("pay", .unpaid): state = .paid
          case ("ship", .paid): state = .shipped
          default: message.fail(NSError(domain: state.rawValue, code: 1))
          }
          message.complete(state.rawValue)
        }
      }
      for action in ["ship", "pay", "pay", "ship"] {
        switch try co_await(promise: order.sendMessage(action)) {
        case .fulfilled(let state): log("\(action): \(state ?? "nil")")
        case .rejected(let error): log("\(action): refused, \((error as NSError).domain)")
        }
      }
    }
    #expect(
      log.entries == [
        "ship: refused, unpaid", "pay: paid", "pay: refused, paid", "ship: shipped",
      ]
    )
  }
}

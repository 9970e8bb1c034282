// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// 2.1: a promise is pending, fulfilled or rejected.
@Suite(.timeLimit(.minutes(30))) struct APlusStateTests {
  /// What is tried on a promise that is settled.
  enum Attempt: String, CaseIterable, Sendable {
    case fulfill
    case reject
    case cancel
    case followFulfilled
    case followRejected
    case followPending

    func on(_ promise: Promise<String>) {
      switch self {
      case .fulfill: #expect(!promise.fulfill("other"))
      case .reject: #expect(!promise.reject(APlusReason.other))
      case .cancel: promise.cancel()
      case .followFulfilled: promise.follow(Promise.fulfilled("other"))
      case .followRejected: promise.follow(Promise<String>.rejected(APlusReason.other))
      case .followPending: promise.follow(Promise<String>())
      }
    }
  }

  // MARK: - 2.1.1

  @Test func `a pending promise may become fulfilled`() {
    let promise = Promise<String>()
    #expect(promise.isPending)
    #expect(promise.fulfill("wanted"))
    #expect(promise.isFulfilled)
    #expect(promise.value == "wanted")
  }

  @Test func `a pending promise may become rejected`() {
    let promise = Promise<String>()
    #expect(promise.isPending)
    #expect(promise.reject(APlusReason.wanted))
    #expect(promise.isRejected)
    #expect(promise.error as? APlusReason == .wanted)
  }

  // MARK: - 2.1.2

  @Test(arguments: APlusMoment.allCases)
  func `a fulfilled promise calls no handler of rejections`(_ moment: APlusMoment) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(.success("wanted")) { notes.watch($0) }
      #expect(notes.lines == ["fulfilled wanted"])
    }
  }

  @Test(arguments: Attempt.allCases)
  func `a fulfilled promise stays so, whatever is tried at once`(_ attempt: Attempt) throws {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      notes.watch(promise)
      promise.fulfill("wanted")
      attempt.on(promise)
      try letAPlusTimePass()
      #expect(promise.value == "wanted")
      #expect(notes.lines == ["fulfilled wanted"])
    }
  }

  @Test(arguments: Attempt.allCases)
  func `a promise fulfilled by other code stays so, whatever that tries then`(_ attempt: Attempt)
    throws
  {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      notes.watch(promise)
      aPlusLater {
        promise.fulfill("wanted")
        attempt.on(promise)
      }
      try letAPlusTimePass()
      #expect(promise.value == "wanted")
      #expect(notes.lines == ["fulfilled wanted"])
    }
  }

  @Test(arguments: Attempt.allCases)
  func `a fulfilled promise stays so, whatever is tried later`(_ attempt: Attempt) throws {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      notes.watch(promise)
      promise.fulfill("wanted")
      aPlusLater { attempt.on(promise) }
      try letAPlusTimePass()
      #expect(promise.value == "wanted")
      #expect(notes.lines == ["fulfilled wanted"])
    }
  }

  @Test func `a fulfilled promise has the value that it had`() {
    final class Object: Sendable {}
    let object = Object()
    let promise = Promise.fulfilled(object)
    promise.fulfill(Object())
    #expect(promise.value === object)
    #expect(promise.value === object)
  }

  // MARK: - 2.1.3

  @Test(arguments: APlusMoment.allCases)
  func `a rejected promise calls no handler of values`(_ moment: APlusMoment) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Result<String, APlusReason>.failure(.wanted)) { notes.watch($0) }
      #expect(notes.lines == ["rejected wanted"])
    }
  }

  @Test(arguments: Attempt.allCases)
  func `a rejected promise stays so, whatever is tried at once`(_ attempt: Attempt) throws {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      notes.watch(promise)
      promise.reject(APlusReason.wanted)
      attempt.on(promise)
      try letAPlusTimePass()
      #expect(promise.error as? APlusReason == .wanted)
      #expect(notes.lines == ["rejected wanted"])
    }
  }

  @Test(arguments: Attempt.allCases)
  func `a promise rejected by other code stays so, whatever that tries then`(_ attempt: Attempt)
    throws
  {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      notes.watch(promise)
      aPlusLater {
        promise.reject(APlusReason.wanted)
        attempt.on(promise)
      }
      try letAPlusTimePass()
      #expect(promise.error as? APlusReason == .wanted)
      #expect(notes.lines == ["rejected wanted"])
    }
  }

  @Test(arguments: Attempt.allCases)
  func `a rejected promise stays so, whatever is tried later`(_ attempt: Attempt) throws {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      notes.watch(promise)
      promise.reject(APlusReason.wanted)
      aPlusLater { attempt.on(promise) }
      try letAPlusTimePass()
      #expect(promise.error as? APlusReason == .wanted)
      #expect(notes.lines == ["rejected wanted"])
    }
  }

  // MARK: - In all orders

  @Test func `of several that settle, one wins, and all that look see the same`() throws {
    try explore(runs: 2_000) {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      let settlers: [() -> Bool] = [
        { promise.fulfill("first") }, { promise.fulfill("second") },
        { promise.reject(APlusReason.wanted) },
      ]
      let wins = settlers.map { settle in
        launch {
          try Coroutine.yield()
          return settle()
        }
      }
      let lookers = (0..<2).map { _ in launch { try "\(promise.settled())" } }
      let watcher = launch { notes.watch(promise) }
      let seen = Set(try lookers.map { try $0.value() })
      try watcher.join()
      let winners = try wins.map { try $0.value() }.filter { $0 }.count
      if winners != 1 || seen.count != 1 || notes.lines.count != 1 {
        throw APlusReason("\(winners) winners, \(seen), \(notes.lines)")
      }
    }
  }
}

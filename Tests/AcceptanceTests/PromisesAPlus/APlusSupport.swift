// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting

/// A reason for a rejection.
struct APlusReason: Error, Equatable {
  let name: String

  init(_ name: String) { self.name = name }

  static let wanted = APlusReason("wanted")
  static let other = APlusReason("other")
}

/// What handlers were told, in order.
final class APlusNotes: @unchecked Sendable {
  // SAFETY: used by the coroutines of one scheduler.
  private(set) var lines: [String] = []

  func add(_ line: String) { lines.append(line) }

  /// Notes whatever a promise comes to, by way of handlers.
  func watch<Value>(_ promise: Promise<Value>, _ name: String = "") {
    promise.then { self.add("\(name)fulfilled \($0)") }
    promise.catch { self.add("\(name)rejected \(($0 as? APlusReason)?.name ?? "\($0)")") }
  }
}

/// Lets virtual time pass until all that has a time has happened.
func letAPlusTimePass() throws { try Coroutine.sleep(for: .seconds(10)) }

/// Does something a little later, by itself.
func aPlusLater(_ work: @escaping () -> Void) {
  launch {
    try Coroutine.sleep(for: .milliseconds(50))
    work()
  }
}

/// Runs a test in virtual time.
func inAPlusTime(_ body: @escaping () throws -> Void) throws {
  try TestScheduler().run(body)
}

/// When a promise is settled, as seen from the code that has it.
enum APlusMoment: String, CaseIterable, Sendable {
  /// Before anybody looks.
  case already
  /// After handlers were added, by the code that added them.
  case atOnce
  /// Later, by another coroutine.
  case later

  /// Runs `look` with a promise that is, or will be, settled like this.
  func with<Value: Sendable>(
    _ outcome: Result<Value, APlusReason>,
    _ look: (Promise<Value>) throws -> Void
  ) throws {
    let promise = Promise<Value>()
    let settle: () -> Void = {
      switch outcome {
      case .success(let value): promise.fulfill(value)
      case .failure(let reason): promise.reject(reason)
      }
    }
    if self == .already { settle() }
    if self == .later { aPlusLater(settle) }
    try look(promise)
    if self == .atOnce { settle() }
    try letAPlusTimePass()
  }
}

/// The ways for a promise to follow something.
enum APlusEntry: String, CaseIterable, Sendable {
  case returnedByThen
  case returnedByRecover
  case made
  case told
  case resolved

  /// A promise that follows `thenable` in this way.
  func promise<Followed: Thenable & Sendable>(
    following thenable: Followed
  ) -> Promise<Followed.Value> {
    switch self {
    case .returnedByThen:
      return Promise.fulfilled("a base").then { _ in thenable }
    case .returnedByRecover:
      return Promise<Followed.Value>.rejected(APlusReason.other).recover { _ in thenable }
    case .made:
      return Promise(following: thenable)
    case .told:
      let promise = Promise<Followed.Value>()
      promise.follow(thenable)
      return promise
    case .resolved:
      let promise = Promise<Followed.Value>()
      CallbackResolver(promise).follow(thenable)
      return promise
    }
  }

  /// What a promise that follows `thenable` tells its handlers, all time passed.
  func notes<Followed: Thenable & Sendable>(following thenable: Followed) throws -> [String] {
    let notes = APlusNotes()
    notes.watch(promise(following: thenable))
    try letAPlusTimePass()
    return notes.lines
  }
}

/// Something that can be followed, of the test's own making; knows how often it was asked.
final class APlusThenable<Value: Sendable>: Thenable, @unchecked Sendable {
  // SAFETY: used by the coroutines of one scheduler.
  private let answer: (CallbackResolver<Value>) throws -> Void
  private(set) var timesAsked = 0

  init(_ answer: @escaping (CallbackResolver<Value>) throws -> Void) { self.answer = answer }

  func whenSettled(_ resolver: CallbackResolver<Value>) throws {
    timesAsked += 1
    try answer(resolver)
  }
}

/// Then-ables that come to a value, each in its own way.
enum APlusFulfilled: String, CaseIterable, Sendable {
  case atOnce
  case later
  case onlyOnce
  case twice
  case andThrows
  case promise
  case laterPromise

  /// One that comes to `value`.
  func thenable(_ value: String) -> any Thenable<String> & Sendable {
    switch self {
    case .promise: return Promise.fulfilled(value)
    case .laterPromise:
      let promise = Promise<String>()
      aPlusLater { promise.fulfill(value) }
      return promise
    default: return made({ $0(value) }, { $0("another") })
    }
  }

  /// One that comes to what `inner` comes to.
  func thenable(for inner: any Thenable<String> & Sendable) -> any Thenable<String> & Sendable {
    switch self {
    case .promise: return Promise(following: inner)
    case .laterPromise:
      let promise = Promise<String>()
      aPlusLater { promise.follow(inner) }
      return promise
    default: return made({ Self.follow($0, inner) }, { $0("another") })
    }
  }

  private static func follow(
    _ resolver: CallbackResolver<String>,
    _ inner: some Thenable<String> & Sendable
  ) {
    resolver.follow(inner)
  }

  private func made(
    _ tell: @escaping (CallbackResolver<String>) -> Void,
    _ tellAnother: @escaping (CallbackResolver<String>) -> Void
  ) -> APlusThenable<String> {
    var isFirst = true
    return APlusThenable { resolver in
      switch self {
      case .later: aPlusLater { tell(resolver) }
      case .onlyOnce:
        guard isFirst else { throw APlusReason("asked again") }
        isFirst = false
        tell(resolver)
      case .twice:
        tell(resolver)
        tellAnother(resolver)
      case .andThrows:
        tell(resolver)
        throw APlusReason.other
      case .atOnce, .promise, .laterPromise: tell(resolver)
      }
    }
  }
}

/// Then-ables that fail, each in its own way.
enum APlusRejected: String, CaseIterable, Sendable {
  case atOnce
  case later
  case onlyOnce
  case twice
  case throwing
  case promise
  case laterPromise

  /// One that fails for `reason`.
  func thenable(_ reason: APlusReason) -> any Thenable<String> & Sendable {
    switch self {
    case .promise: return Promise<String>.rejected(reason)
    case .laterPromise:
      let promise = Promise<String>()
      aPlusLater { promise.reject(reason) }
      return promise
    default: break
    }
    var isFirst = true
    return APlusThenable<String> { resolver in
      switch self {
      case .later: aPlusLater { resolver(throwing: reason) }
      case .onlyOnce:
        guard isFirst else { throw APlusReason("asked again") }
        isFirst = false
        resolver(throwing: reason)
      case .twice:
        resolver(throwing: reason)
        resolver(throwing: APlusReason.other)
      case .throwing: throw reason
      case .atOnce, .promise, .laterPromise: resolver(throwing: reason)
      }
    }
  }
}

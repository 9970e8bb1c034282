// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// 2.2: `then`, and what this library has in place of its second argument: `catch`, `recover`, `finally`.
@Suite(.timeLimit(.minutes(30))) struct APlusThenTests {
  typealias Wanted = Result<String, APlusReason>

  /// The two ends of a promise, for what holds of both alike.
  enum Ending: String, CaseIterable, Sendable {
    case fulfilled
    case rejected

    var outcome: Wanted { self == .fulfilled ? .success("wanted") : .failure(.wanted) }

    func settle(_ promise: Promise<String>) {
      switch self {
      case .fulfilled: promise.fulfill("wanted")
      case .rejected: promise.reject(APlusReason.wanted)
      }
    }

    /// Adds a handler for this end.
    @discardableResult
    func handle(_ promise: Promise<String>, _ work: @escaping @Sendable () -> Void) -> AnyPromise {
      self == .fulfilled ? promise.then { _ in work() } : promise.catch { _ in work() }
    }
  }

  // MARK: - 2.2.1: both are optional

  @Test(arguments: APlusMoment.allCases)
  func `a rejected promise with a handler of values only rejects the next`(_ moment: APlusMoment)
    throws
  {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Wanted.failure(.wanted)) {
        notes.watch(
          $0.then { value -> String in
            notes.add("called")
            return value
          }
        )
      }
      #expect(notes.lines == ["rejected wanted"])
    }
  }

  @Test(arguments: APlusMoment.allCases)
  func `a fulfilled promise with a handler of rejections only fulfils the next`(
    _ moment: APlusMoment
  ) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Wanted.success("wanted")) {
        notes.watch($0.catch { _ in notes.add("called") })
        notes.watch(
          $0.recover { _ -> String in
            notes.add("called")
            return "other"
          }
        )
      }
      #expect(notes.lines == ["fulfilled wanted", "fulfilled wanted"])
    }
  }

  @Test func `a line of handlers of the other kind passes the outcome through`() {
    let (fulfilled, rejected, notes) = (Promise<String>(), Promise<String>(), APlusNotes())
    notes.watch(fulfilled.catch { _ in }.recover { _ in "other" }.finally {}.catch { _ in })
    notes.watch(rejected.then { $0 }.then { $0 + "!" }.finally {}.then { $0 })
    fulfilled.fulfill("wanted")
    rejected.reject(APlusReason.wanted)
    #expect(notes.lines == ["fulfilled wanted", "rejected wanted"])
  }

  // MARK: - 2.2.2 and 2.2.3: a handler

  @Test(arguments: APlusMoment.allCases)
  func `a handler of values is called with the value`(_ moment: APlusMoment) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Wanted.success("wanted")) { $0.then { notes.add($0) } }
      #expect(notes.lines == ["wanted"])
    }
  }

  @Test(arguments: APlusMoment.allCases)
  func `a handler of rejections is called with the reason`(_ moment: APlusMoment) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Wanted.failure(.wanted)) {
        $0.catch { notes.add("catch \($0 as? APlusReason == .wanted)") }
        $0.recover {
          notes.add("recover \($0 as? APlusReason == .wanted)")
          return ""
        }
      }
      #expect(notes.lines == ["catch true", "recover true"])
    }
  }

  @Test(arguments: Ending.allCases)
  func `a handler is not called before the promise is settled`(_ ending: Ending) throws {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      ending.handle(promise) { notes.add("settled: \(!promise.isPending)") }
      aPlusLater { ending.settle(promise) }
      try Coroutine.sleep(for: .milliseconds(49))
      #expect(notes.lines == [])
      try letAPlusTimePass()
      #expect(notes.lines == ["settled: true"])
    }
  }

  @Test(arguments: Ending.allCases)
  func `a handler is not called while nobody settles`(_ ending: Ending) throws {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      ending.handle(promise) { notes.add("called") }
      try letAPlusTimePass()
      #expect(promise.isPending)
      #expect(notes.lines == [])
    }
  }

  /// When a promise is settled a second time, in vain.
  enum Again: String, CaseIterable, Sendable {
    case alreadySettled
    case bothAtOnce
    case bothLater
    case oneLater
  }

  @Test(arguments: Ending.allCases, Again.allCases)
  func `a handler is called once`(_ ending: Ending, _ again: Again) throws {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      if again == .alreadySettled { ending.settle(promise) }
      ending.handle(promise) { notes.add("called") }
      if again == .bothAtOnce || again == .oneLater { ending.settle(promise) }
      if again == .bothLater { aPlusLater { for _ in 0..<2 { ending.settle(promise) } } }
      if again == .oneLater { aPlusLater { ending.settle(promise) } }
      if again == .bothAtOnce || again == .alreadySettled { ending.settle(promise) }
      try letAPlusTimePass()
      #expect(notes.lines == ["called"])
    }
  }

  @Test(arguments: Ending.allCases)
  func `handlers added at different times are called once each`(_ ending: Ending) throws {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      for number in 0..<3 {
        ending.handle(promise) { notes.add("\(number)") }
        try Coroutine.sleep(for: .milliseconds(50))
      }
      aPlusLater { ending.settle(promise) }
      try letAPlusTimePass()
      #expect(notes.lines == ["0", "1", "2"])
    }
  }

  @Test(arguments: Ending.allCases)
  func `handlers added before and after settling are called once each`(_ ending: Ending) {
    let (promise, notes) = (Promise<String>(), APlusNotes())
    ending.handle(promise) { notes.add("before") }
    ending.settle(promise)
    ending.handle(promise) { notes.add("after") }
    #expect(notes.lines == ["before", "after"])
  }

  // MARK: - 2.2.4: on whose stack

  @Test(arguments: Ending.allCases)
  func `here a handler is called in the call that settles`(_ ending: Ending) {
    let (promise, notes) = (Promise<String>(), APlusNotes())
    ending.handle(promise) { notes.add("handler") }
    notes.add("settling")
    ending.settle(promise)
    notes.add("settled")
    #expect(notes.lines == ["settling", "handler", "settled"])
  }

  @Test(arguments: Ending.allCases)
  func `here a handler of a settled promise is called in the call that adds it`(_ ending: Ending) {
    let (promise, notes) = (Promise<String>(), APlusNotes())
    ending.settle(promise)
    notes.add("adding")
    ending.handle(promise) { notes.add("handler") }
    notes.add("added")
    #expect(notes.lines == ["adding", "handler", "added"])
  }

  @Test(arguments: Ending.allCases, APlusMoment.allCases)
  func `what awaits goes on when the code that settles has given up its turn`(
    _ ending: Ending,
    _ moment: APlusMoment
  ) throws {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      if moment == .already { ending.settle(promise) }
      launch {
        _ = try promise.settled()
        notes.add("goes on")
      }
      try Coroutine.yield()
      let settle = {
        ending.settle(promise)
        notes.add("settled")
      }
      if moment == .atOnce { settle() }
      if moment == .later { aPlusLater(settle) }
      try letAPlusTimePass()
      #expect(notes.lines == (moment == .already ? ["goes on"] : ["settled", "goes on"]))
    }
  }

  @Test(arguments: Ending.allCases, Ending.allCases)
  func `what a handler launches begins when the handler and its caller are done`(
    _ outer: Ending,
    _ inner: Ending
  ) throws {
    try inAPlusTime {
      let (first, second, notes) = (Promise<String>(), Promise<String>(), APlusNotes())
      inner.settle(second)
      outer.handle(first) {
        launch { inner.handle(second) { notes.add("inner") } }
        notes.add("outer ends")
      }
      outer.settle(first)
      notes.add("settled")
      try letAPlusTimePass()
      #expect(notes.lines == ["outer ends", "settled", "inner"])
    }
  }

  // MARK: - 2.2.6: several handlers

  @Test(arguments: Ending.allCases, APlusMoment.allCases)
  func `handlers are called in the order in which they were added`(
    _ ending: Ending,
    _ moment: APlusMoment
  ) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(ending.outcome) { promise in
        for number in 0..<5 { ending.handle(promise) { notes.add("\(number)") } }
      }
      #expect(notes.lines == ["0", "1", "2", "3", "4"])
    }
  }

  @Test(arguments: APlusMoment.allCases)
  func `handlers of values are called with the value, those of rejections are not`(
    _ moment: APlusMoment
  ) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Wanted.success("wanted")) { promise in
        for _ in 0..<3 {
          promise.then { value -> String in
            notes.add(value)
            return "other"
          }
          promise.catch { _ in notes.add("never") }
        }
      }
      #expect(notes.lines == ["wanted", "wanted", "wanted"])
    }
  }

  @Test(arguments: APlusMoment.allCases)
  func `handlers of rejections are called with the reason, those of values are not`(
    _ moment: APlusMoment
  ) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Wanted.failure(.wanted)) { promise in
        for _ in 0..<3 {
          promise.recover { error in
            notes.add((error as? APlusReason)?.name ?? "another")
            return "other"
          }
          promise.then { _ in notes.add("never") }
        }
      }
      #expect(notes.lines == ["wanted", "wanted", "wanted"])
    }
  }

  @Test(arguments: Ending.allCases, APlusMoment.allCases)
  func `a handler that throws does not keep the others from being called`(
    _ ending: Ending,
    _ moment: APlusMoment
  ) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(ending.outcome) { promise in
        ending.handle(promise) { notes.add("first") }
        promise.then { _ in throw APlusReason.other }
        promise.recover { _ in throw APlusReason.other }
        promise.finally { throw APlusReason.other }
        ending.handle(promise) { notes.add("last") }
      }
      #expect(notes.lines == ["first", "last"])
    }
  }

  @Test(arguments: APlusMoment.allCases)
  func `branches of a fulfilled promise have outcomes of their own`(_ moment: APlusMoment) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Wanted.success("wanted")) { promise in
        notes.watch(promise.then { _ in "first" }, "1 ")
        notes.watch(promise.then { _ -> String in throw APlusReason("second") }, "2 ")
        notes.watch(promise.then { _ in 3 }, "3 ")
      }
      #expect(notes.lines == ["1 fulfilled first", "2 rejected second", "3 fulfilled 3"])
    }
  }

  @Test(arguments: APlusMoment.allCases)
  func `branches of a rejected promise have outcomes of their own`(_ moment: APlusMoment) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Wanted.failure(.wanted)) { promise in
        notes.watch(promise.recover { _ in "first" }, "1 ")
        notes.watch(promise.recover { _ in throw APlusReason("second") }, "2 ")
        notes.watch(promise.recover { _ in "third" }, "3 ")
      }
      #expect(notes.lines == ["1 fulfilled first", "2 rejected second", "3 fulfilled third"])
    }
  }

  @Test(arguments: Ending.allCases)
  func `here a handler that another one adds is called at once, before those behind it`(
    _ ending: Ending
  ) {
    let (promise, notes) = (Promise<String>(), APlusNotes())
    ending.handle(promise) {
      notes.add("first")
      ending.handle(promise) { notes.add("added by the first") }
    }
    ending.handle(promise) { notes.add("second") }
    ending.settle(promise)
    #expect(notes.lines == ["first", "added by the first", "second"])
  }

  @Test(arguments: Ending.allCases)
  func `those that await go on in the order in which they came, those that come meanwhile last`(
    _ ending: Ending
  ) throws {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      launch {
        _ = try promise.settled()
        notes.add("first")
        launch {
          _ = try promise.settled()
          notes.add("launched by the first")
        }
      }
      launch {
        _ = try promise.settled()
        notes.add("second")
      }
      aPlusLater { ending.settle(promise) }
      try letAPlusTimePass()
      #expect(notes.lines == ["first", "second", "launched by the first"])
    }
  }

  // MARK: - 2.2.7: the next promise

  @Test func `each of then, catch, recover and finally makes a promise of its own`() {
    let promise = Promise<String>()
    let next: [AnyPromise] = [
      promise.then { $0 }, promise.then { _ in }, promise.catch { _ in },
      promise.recover { _ in "" }, promise.finally {},
    ]
    #expect(Set(next.map { ObjectIdentifier($0) }).count == next.count)
    #expect(next.allSatisfy { $0 !== promise && $0.isPending })
    promise.fulfill("wanted")
    #expect(next.allSatisfy { $0.isFulfilled })
  }

  enum EnumReason: Error { case wanted }
  final class ObjectReason: Error {}

  /// An error that could be followed, and must not be.
  struct ThenableReason: Error, Thenable {
    let answer: @Sendable (CallbackResolver<String>) -> Void
    func whenSettled(_ resolver: CallbackResolver<String>) { answer(resolver) }
  }

  static let reasons: [any Error] = [
    APlusReason.wanted, EnumReason.wanted, ObjectReason(), CancellationError(),
    PromiseError.cancelled,
    PromiseError.abandoned, CoroutineError.outsideCoroutine,
    ThenableReason { _ in }, ThenableReason { $0("adopted") },
    ThenableReason { $0(throwing: APlusReason("adopted")) },
  ]

  /// Whether an error is the one thrown: by its description, and by identity if it has one.
  static func isSame(_ error: (any Error)?, _ reason: any Error) -> Bool {
    guard let error else { return false }
    if let reason = reason as? ObjectReason { return error as? ObjectReason === reason }
    return type(of: error) == type(of: reason) && "\(error)" == "\(reason)"
  }

  @Test(arguments: 0..<reasons.count, APlusMoment.allCases)
  func `what a handler throws is the next promise's reason, whatever it is`(
    _ index: Int,
    _ moment: APlusMoment
  ) throws {
    try inAPlusTime {
      let reason = Self.reasons[index]
      let (fulfilled, rejected) = (Wanted.success(""), Wanted.failure(.other))
      for outcome in [fulfilled, rejected] {
        var made: [AnyPromise] = []
        try moment.with(outcome) { promise in
          if case .success = outcome {
            made.append(promise.then { _ -> Int in throw reason })
            made.append(promise.then { _ -> Promise<Int> in throw reason })
            made.append(promise.then { _ -> APlusThenable<Int> in throw reason })
          } else {
            made.append(promise.recover { _ -> String in throw reason })
            made.append(promise.recover { _ -> Promise<String> in throw reason })
          }
          made.append(promise.finally { throw reason })
        }
        #expect(made.count >= 3)
        #expect(made.allSatisfy { Self.isSame($0.error, reason) })
      }
    }
  }

  @Test(arguments: APlusMoment.allCases)
  func `without a handler for it the next promise has the same value`(_ moment: APlusMoment) throws
  {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Wanted.success("wanted")) {
        notes.watch($0.catch { _ in })
        notes.watch($0.recover { _ in "other" })
        notes.watch($0.recover { _ in Promise.fulfilled("other") })
        notes.watch($0.finally {})
      }
      #expect(notes.lines == Array(repeating: "fulfilled wanted", count: 4))
    }
  }

  @Test(arguments: APlusMoment.allCases)
  func `without a handler for it the next promise has the same reason`(_ moment: APlusMoment) throws
  {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Wanted.failure(.wanted)) {
        notes.watch($0.then { _ in "other" })
        notes.watch($0.then { _ in Promise.fulfilled("other") })
        notes.watch($0.catch { _ in })
        notes.watch($0.finally {})
      }
      #expect(notes.lines == Array(repeating: "rejected wanted", count: 4))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// 2.3.3: a promise told to be anything that can be asked for its outcome.
@Suite(.timeLimit(.minutes(30))) struct APlusThenableTests {
  // MARK: - 2.3.3.1 to 2.3.3.3: asking

  @Test(arguments: APlusEntry.allCases)
  func `a then-able is asked once`(_ entry: APlusEntry) throws {
    try inAPlusTime {
      let thenable = APlusThenable<String> { $0("wanted") }
      try #expect(entry.notes(following: thenable) == ["fulfilled wanted"])
      #expect(thenable.timesAsked == 1)
    }
  }

  @Test(arguments: APlusEntry.allCases)
  func `a then-able may be a structure or an enumeration`(_ entry: APlusEntry) throws {
    struct Structure: Thenable, Sendable {
      let value: String
      func whenSettled(_ resolver: CallbackResolver<String>) { resolver(value) }
    }
    enum Enumeration: Thenable {
      case wanted
      func whenSettled(_ resolver: CallbackResolver<String>) { resolver("\(self)") }
    }
    try inAPlusTime {
      try #expect(entry.notes(following: Structure(value: "wanted")) == ["fulfilled wanted"])
      try #expect(entry.notes(following: Enumeration.wanted) == ["fulfilled wanted"])
    }
  }

  @Test func `each promise that follows asks for itself`() throws {
    try inAPlusTime {
      var count = 0
      let thenable = APlusThenable<Int> { resolver in
        count += 1
        resolver(count)
      }
      #expect(Promise(following: thenable).value == 1)
      #expect(Promise(following: thenable).value == 2)
      #expect(thenable.timesAsked == 2)
    }
  }

  @Test func `a then-able without a promise that follows is not asked`() throws {
    try inAPlusTime {
      let thenable = APlusThenable<String> { $0("wanted") }
      let (base, settled) = (Promise<Int>(), Promise.fulfilled("other"))
      let next = base.then { _ in thenable }
      base.reject(APlusReason.wanted)
      #expect(next.error as? APlusReason == .wanted)
      #expect(!CallbackResolver(settled).follow(thenable))
      try letAPlusTimePass()
      #expect(thenable.timesAsked == 0)
    }
  }

  @Test func `a then-able that may park parks its asker`() throws {
    try inAPlusTime {
      let thenable = APlusThenable<String> { resolver in
        try Coroutine.sleep(for: .seconds(1))
        resolver("wanted")
      }
      let promise = Promise(following: thenable)
      #expect(promise.value == "wanted")
    }
  }

  // MARK: - 2.3.3.3.1: it fulfils

  @Test(arguments: APlusEntry.allCases, [false, true])
  func `a value is the promise's, of whatever type`(_ entry: APlusEntry, _ isLater: Bool) throws {
    func check<Value: Sendable & Equatable>(_ value: Value) throws {
      let thenable = APlusThenable<Value> { resolver in
        if isLater { aPlusLater { resolver(value) } } else { resolver(value) }
      }
      let promise = entry.promise(following: thenable)
      try letAPlusTimePass()
      #expect(promise.value == value)
    }
    try inAPlusTime {
      try check(Int?.none)
      try check(false)
      try check(5)
      try check("text")
      try check(["an", "array"])
      try check(ObjectIdentifier(APlusNotes.self))
    }
  }

  @Test(arguments: APlusFulfilled.allCases, APlusEntry.allCases)
  func `a promise comes to a then-able's value`(_ way: APlusFulfilled, _ entry: APlusEntry) throws {
    try inAPlusTime {
      func notes(_ thenable: some Thenable<String> & Sendable) throws -> [String] {
        try entry.notes(following: thenable)
      }
      try #expect(notes(way.thenable("wanted")) == ["fulfilled wanted"])
    }
  }

  @Test(arguments: APlusRejected.allCases, APlusEntry.allCases)
  func `a promise comes to a then-able's reason`(_ way: APlusRejected, _ entry: APlusEntry) throws {
    try inAPlusTime {
      func notes(_ thenable: some Thenable<String> & Sendable) throws -> [String] {
        try entry.notes(following: thenable)
      }
      try #expect(notes(way.thenable(.wanted)) == ["rejected wanted"])
    }
  }

  @Test(arguments: APlusFulfilled.allCases, APlusFulfilled.allCases)
  func `a promise comes to the value of a then-able that a then-able names`(
    _ outer: APlusFulfilled,
    _ inner: APlusFulfilled
  ) throws {
    for entry in APlusEntry.allCases {
      try inAPlusTime {
        func notes(_ thenable: some Thenable<String> & Sendable) throws -> [String] {
          try entry.notes(following: thenable)
        }
        let thenable = outer.thenable(for: inner.thenable("wanted"))
        try #expect(notes(thenable) == ["fulfilled wanted"], "\(entry)")
      }
    }
  }

  @Test(arguments: APlusFulfilled.allCases, APlusRejected.allCases)
  func `a promise comes to the reason of a then-able that a then-able names`(
    _ outer: APlusFulfilled,
    _ inner: APlusRejected
  ) throws {
    for entry in APlusEntry.allCases {
      try inAPlusTime {
        func notes(_ thenable: some Thenable<String> & Sendable) throws -> [String] {
          try entry.notes(following: thenable)
        }
        let thenable = outer.thenable(for: inner.thenable(.wanted))
        try #expect(notes(thenable) == ["rejected wanted"], "\(entry)")
      }
    }
  }

  @Test(arguments: APlusFulfilled.allCases)
  func `then-ables that name one another three deep are followed to the end`(
    _ middle: APlusFulfilled
  ) throws {
    for (outer, inner) in zip(APlusFulfilled.allCases, APlusFulfilled.allCases.reversed()) {
      try inAPlusTime {
        func notes(_ thenable: some Thenable<String> & Sendable) throws -> [String] {
          try APlusEntry.returnedByThen.notes(following: thenable)
        }
        let thenable = outer.thenable(for: middle.thenable(for: inner.thenable("wanted")))
        try #expect(notes(thenable) == ["fulfilled wanted"], "\(outer), \(inner)")
      }
    }
  }

  @Test func `a line of then-ables is followed without recursion`() throws {
    try inAPlusTime {
      let (length, line) = (20_000, Notebook<APlusThenable<Int>>())
      var (depth, deepest) = (0, 0)
      for index in 0..<length {
        line.add(
          APlusThenable { resolver in
            guard index + 1 < length else {
              resolver(1)
              return
            }
            depth += 1
            deepest = max(deepest, depth)
            resolver.follow(line.entries[index + 1])
            depth -= 1
          }
        )
      }
      // On a coroutine's stack, which a recursion so deep would overflow.
      #expect(Promise(following: line.entries[0]).value == 1)
      #expect(deepest == 1)
      line.removeAll()
    }
  }

  @Test func `a then-able that is named is asked when the one that names it has returned`() throws {
    let notes = APlusNotes()
    let inner = APlusThenable<String> { resolver in
      notes.add("inner")
      resolver("wanted")
    }
    let outer = APlusThenable<String> { resolver in
      resolver.follow(inner)
      notes.add("outer returns")
    }
    notes.watch(Promise(following: outer))
    #expect(notes.lines == ["outer returns", "inner", "fulfilled wanted"])
  }

  // MARK: - 2.3.3.3.2: it rejects

  @Test(arguments: 0..<APlusThenTests.reasons.count, APlusEntry.allCases)
  func `a reason is the promise's, whatever it is`(_ index: Int, _ entry: APlusEntry) throws {
    let reason = APlusThenTests.reasons[index]
    try inAPlusTime {
      let atOnce = entry.promise(following: APlusThenable<String> { $0(throwing: reason) })
      let afterwards = entry.promise(
        following: APlusThenable<String> { resolver in aPlusLater { resolver(throwing: reason) } }
      )
      let thrown = entry.promise(following: APlusThenable<String> { _ in throw reason })
      #expect(APlusThenTests.isSame(atOnce.error, reason))
      #expect(APlusThenTests.isSame(thrown.error, reason))
      #expect(afterwards.isPending)
      try letAPlusTimePass()
      #expect(APlusThenTests.isSame(afterwards.error, reason))
    }
  }

  // MARK: - 2.3.3.3.3: the first call counts

  /// A call of a resolver.
  enum Call: String, CaseIterable, Sendable {
    case fulfill
    case reject
    case followFulfilled
    case followRejected
    case followLaterFulfilled
    case followLaterRejected

    @discardableResult
    func make(_ resolver: CallbackResolver<String>, _ name: String) -> Bool {
      switch self {
      case .fulfill: return resolver(name)
      case .reject: return resolver(throwing: APlusReason(name))
      case .followFulfilled: return resolver.follow(Promise.fulfilled(name))
      case .followRejected: return resolver.follow(Promise<String>.rejected(APlusReason(name)))
      case .followLaterFulfilled:
        let promise = Promise<String>()
        aPlusLater { promise.fulfill(name) }
        return resolver.follow(promise)
      case .followLaterRejected:
        let promise = Promise<String>()
        aPlusLater { promise.reject(APlusReason(name)) }
        return resolver.follow(promise)
      }
    }

    /// What the handlers are told if this call counts.
    func notes(_ name: String) -> [String] {
      switch self {
      case .fulfill, .followFulfilled, .followLaterFulfilled: ["fulfilled \(name)"]
      case .reject, .followRejected, .followLaterRejected: ["rejected \(name)"]
      }
    }
  }

  /// When two calls are made.
  enum Pace: String, CaseIterable, Sendable {
    case bothAtOnce
    case oneAtOnce
    case bothLater
    case oneAfterTheOther

    func make(_ first: @escaping () -> Void, _ second: @escaping () -> Void) {
      switch self {
      case .bothAtOnce:
        first()
        second()
      case .oneAtOnce:
        first()
        aPlusLater(second)
      case .bothLater:
        aPlusLater {
          first()
          second()
        }
      case .oneAfterTheOther:
        aPlusLater {
          first()
          aPlusLater { aPlusLater(second) }
        }
      }
    }
  }

  @Test(arguments: Call.allCases, Call.allCases)
  func `of two calls the first counts`(_ first: Call, _ second: Call) throws {
    for pace in Pace.allCases {
      for entry in APlusEntry.allCases {
        try inAPlusTime {
          let thenable = APlusThenable<String> { resolver in
            pace.make(
              { #expect(first.make(resolver, "wanted")) },
              { #expect(!second.make(resolver, "other")) }
            )
          }
          let expected = first.notes("wanted")
          try #expect(entry.notes(following: thenable) == expected, "\(pace), \(entry)")
        }
      }
    }
  }

  @Test(arguments: Call.allCases)
  func `a resolver that is kept and called again and again has no more effect`(_ call: Call) throws
  {
    try inAPlusTime {
      var kept: CallbackResolver<String>?
      let (promise, notes) = (Promise<String>(), APlusNotes())
      promise.follow(APlusThenable { kept = $0 })
      notes.watch(promise)
      kept.map { _ = call.make($0, "wanted") }
      for _ in 0..<3 {
        for other in Call.allCases { kept.map { #expect(!other.make($0, "other")) } }
        try letAPlusTimePass()
      }
      #expect(notes.lines == call.notes("wanted"))
    }
  }

  @Test func `in all orders one of several calls counts, and all handlers hear it`() throws {
    try explore(runs: 2_000) {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      let followed = Promise<String>()
      let thenable = APlusThenable<String> { resolver in
        launch {
          try Coroutine.yield()
          resolver("a value")
        }
        launch {
          try Coroutine.yield()
          resolver(throwing: APlusReason.wanted)
        }
        launch {
          try Coroutine.yield()
          resolver.follow(followed)
        }
      }
      launch {
        try Coroutine.yield()
        followed.fulfill("followed")
      }
      promise.follow(thenable)
      notes.watch(promise, "1 ")
      notes.watch(promise, "2 ")
      _ = try promise.settled()
      let ends = Set(notes.lines.map { $0.dropFirst(2) })
      if notes.lines.count != 2 || ends.count != 1 { throw APlusReason("\(notes.lines)") }
    }
  }

  // MARK: - 2.3.3.3.4: it throws

  @Test(arguments: Call.allCases, APlusEntry.allCases)
  func `an error thrown after a call is ignored`(_ call: Call, _ entry: APlusEntry) throws {
    try inAPlusTime {
      let thenable = APlusThenable<String> { resolver in
        call.make(resolver, "wanted")
        throw APlusReason.other
      }
      try #expect(entry.notes(following: thenable) == call.notes("wanted"))
    }
  }

  @Test(arguments: Call.allCases, APlusEntry.allCases)
  func `an error thrown after two calls is ignored, as the second is`(
    _ call: Call,
    _ entry: APlusEntry
  ) throws {
    try inAPlusTime {
      let thenable = APlusThenable<String> { resolver in
        call.make(resolver, "wanted")
        resolver(throwing: APlusReason.other)
        resolver("other")
        throw APlusReason.other
      }
      try #expect(entry.notes(following: thenable) == call.notes("wanted"))
    }
  }

  @Test(arguments: APlusEntry.allCases)
  func `an error thrown without a call rejects the promise`(_ entry: APlusEntry) throws {
    try inAPlusTime {
      let thenable = APlusThenable<String> { _ in throw APlusReason.wanted }
      try #expect(entry.notes(following: thenable) == ["rejected wanted"])
    }
  }

  @Test(arguments: Call.allCases, APlusEntry.allCases)
  func `an error thrown before a call that comes later rejects the promise`(
    _ call: Call,
    _ entry: APlusEntry
  ) throws {
    try inAPlusTime {
      let thenable = APlusThenable<String> { resolver in
        aPlusLater { #expect(!call.make(resolver, "other")) }
        throw APlusReason.wanted
      }
      try #expect(entry.notes(following: thenable) == ["rejected wanted"])
    }
  }

  // MARK: - It does neither

  @Test(arguments: APlusEntry.allCases)
  func `a then-able that keeps the resolver and says nothing leaves the promise pending`(
    _ entry: APlusEntry
  ) throws {
    try inAPlusTime {
      var kept: [CallbackResolver<String>] = []
      let thenable = APlusThenable<String> { kept.append($0) }
      let promise = entry.promise(following: thenable)
      try letAPlusTimePass()
      #expect(promise.isPending)
      kept = []
      #expect(promise.error as? PromiseError == .abandoned)
    }
  }

  @Test(arguments: APlusEntry.allCases)
  func `a then-able that lets go of the resolver rejects the promise as abandoned`(
    _ entry: APlusEntry
  ) throws {
    try inAPlusTime {
      let promise = entry.promise(following: APlusThenable<String> { _ in })
      #expect(promise.error as? PromiseError == .abandoned)
    }
  }

  @Test func `a resolver whose promise was settled by others is refused`() throws {
    var kept: CallbackResolver<String>?
    let promise = Promise(following: APlusThenable<String> { kept = $0 })
    promise.cancel()
    for call in [Call.fulfill, .reject, .followFulfilled] {
      kept.map { #expect(!call.make($0, "late")) }
    }
    #expect(promise.error as? PromiseError == .cancelled)
  }

  // MARK: - 2.3.3.4: what cannot be asked

  /// Has the method, but does not say that it is a then-able.
  private struct Similar: Equatable, Sendable {
    let number: Int
    func whenSettled(_ resolver: CallbackResolver<String>) { resolver("adopted") }
  }

  @Test func `what does not say that it is a then-able is a plain value`() {
    #expect(Promise.fulfilled(1).then { Similar(number: $0) }.value == Similar(number: 1))
    let recovered = Promise<Similar>.rejected(APlusReason.other).recover { _ in Similar(number: 2) }
    #expect(recovered.value == Similar(number: 2))
  }

  @Test func `a then-able as a value, and not as something to follow, stays what it is`() {
    let thenable = APlusThenable<String> { $0("adopted") }
    let promise = Promise<APlusThenable<String>>()
    promise.fulfill(thenable)
    #expect(promise.value === thenable)
    #expect(thenable.timesAsked == 0)
    // What the types say is what happens: following it takes one step more.
    #expect(promise.then { $0 }.value == "adopted")
  }

  @Test func `a then-able of a then-able is followed one step for each type`() {
    let inner = APlusThenable<String> { $0("wanted") }
    let outer = APlusThenable<APlusThenable<String>> { $0(inner) }
    #expect(Promise(following: outer).value === inner)
    #expect(Promise(following: outer).then { $0 }.value == "wanted")
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// 2.3.1, 2.3.2 and 2.3.4: a promise told to be itself, another promise, or a plain value.
@Suite(.timeLimit(.minutes(30))) struct APlusResolutionTests {
  // MARK: - 2.3.1: itself

  /// Holds a promise for a closure that is made before it.
  private final class Box<Value>: @unchecked Sendable {
    // SAFETY: used by one test's thread.
    var content: Value?
  }

  @Test func `then that returns the promise that it makes rejects it`() throws {
    let (base, box) = (Promise<Int>(), Box<Promise<Int>>())
    let promise = base.then { value in box.content ?? .fulfilled(value) }
    box.content = promise
    base.fulfill(1)
    #expect(promise.error as? PromiseError == .adoptsItself)
    box.content = nil
  }

  @Test func `recover that returns the promise that it makes rejects it`() throws {
    let (base, box) = (Promise<Int>(), Box<Promise<Int>>())
    let promise = base.recover { _ in box.content ?? .fulfilled(1) }
    box.content = promise
    base.reject(APlusReason.other)
    #expect(promise.error as? PromiseError == .adoptsItself)
    box.content = nil
  }

  @Test func `a promise that is told to follow itself is rejected`() {
    let promise = Promise<Int>()
    promise.follow(promise)
    #expect(promise.error as? PromiseError == .adoptsItself)
    let other = Promise<Int>()
    #expect(CallbackResolver(other).follow(other))
    #expect(other.error as? PromiseError == .adoptsItself)
  }

  @Test(arguments: APlusFulfilled.allCases)
  func `a then-able that names the promise that follows it rejects it`(_ way: APlusFulfilled) throws
  {
    try inAPlusTime {
      let (promise, notes) = (Promise<String>(), APlusNotes())
      notes.watch(promise)
      let thenable = way.thenable(for: promise)
      func follow(_ thenable: some Thenable<String>) { promise.follow(thenable) }
      follow(thenable)
      try letAPlusTimePass()
      #expect(promise.error as? PromiseError == .adoptsItself)
      #expect(notes.lines.count == 1)
    }
  }

  @Test(arguments: 1...9)
  func `then-ables that name one another in a ring reject the promise`(_ length: Int) throws {
    try inAPlusTime {
      var ring: [APlusThenable<String>] = []
      for index in 0..<length {
        ring.append(APlusThenable { $0.follow(ring[(index + 1) % length]) })
      }
      // Two that are not in the ring lead to it.
      let second = APlusThenable<String> { $0.follow(ring[0]) }
      let first = APlusThenable<String> { $0.follow(second) }
      let promise = Promise(following: first)
      #expect(promise.error as? PromiseError == .adoptsItself)
      ring = []
    }
  }

  @Test(arguments: 2...6)
  func `promises that follow one another in a ring are rejected`(_ length: Int) {
    let promises = (0..<length).map { _ in Promise<Int>() }
    for index in 0..<length { promises[index].follow(promises[(index + 1) % length]) }
    #expect(promises.allSatisfy { $0.error as? PromiseError == .adoptsItself })
  }

  @Test func `a ring is found when what closes it was returned by a handler`() {
    let (base, first) = (Promise<Int>(), Promise<Int>())
    let second = base.then { _ in first }
    base.fulfill(1)
    first.follow(second)
    #expect(first.error as? PromiseError == .adoptsItself)
    #expect(second.error as? PromiseError == .adoptsItself)
  }

  @Test func `a line of promises that follow one another is no ring`() {
    let promises = (0..<100).map { _ in Promise<Int>() }
    for (promise, next) in zip(promises, promises.dropFirst()) { promise.follow(next) }
    // Several ways to the same end are none either.
    for promise in promises.dropLast(2) { promise.follow(promises[99]) }
    #expect(promises.allSatisfy { $0.isPending })
    promises[99].fulfill(7)
    #expect(promises.allSatisfy { $0.value == 7 })
  }

  @Test func `a then-able that names itself at once is a ring; later it may`() throws {
    try inAPlusTime {
      var thenable: APlusThenable<String>?
      var isAnswering = false
      let notes = APlusNotes()
      thenable = APlusThenable { resolver in
        if isAnswering {
          resolver("wanted")
        } else {
          isAnswering = true
          aPlusLater { if let thenable { resolver.follow(thenable) } }
        }
      }
      if let thenable { notes.watch(Promise(following: thenable)) }
      try letAPlusTimePass()
      #expect(notes.lines == ["fulfilled wanted"])
      #expect(thenable?.timesAsked == 2)
      thenable = APlusThenable { resolver in if let thenable { resolver.follow(thenable) } }
      let promise = thenable.map { Promise(following: $0) }
      #expect(promise?.error as? PromiseError == .adoptsItself)
      thenable = nil
    }
  }

  // MARK: - 2.3.2: another promise

  @Test(arguments: APlusEntry.allCases)
  func `a promise that follows a pending one stays pending`(_ entry: APlusEntry) throws {
    try inAPlusTime {
      let (followed, notes) = (Promise<String>(), APlusNotes())
      let promise = entry.promise(following: followed)
      notes.watch(promise)
      try letAPlusTimePass()
      #expect(promise.isPending)
      #expect(notes.lines == [])
      followed.fulfill("wanted")
      #expect(notes.lines == ["fulfilled wanted"])
    }
  }

  @Test(arguments: APlusEntry.allCases, APlusMoment.allCases)
  func `a promise that follows a fulfilled one gets its value`(
    _ entry: APlusEntry,
    _ moment: APlusMoment
  ) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Result<String, APlusReason>.success("wanted")) {
        notes.watch(entry.promise(following: $0))
      }
      #expect(notes.lines == ["fulfilled wanted"])
    }
  }

  @Test(arguments: APlusEntry.allCases, APlusMoment.allCases)
  func `a promise that follows a rejected one gets its reason`(
    _ entry: APlusEntry,
    _ moment: APlusMoment
  ) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      try moment.with(Result<String, APlusReason>.failure(.wanted)) {
        notes.watch(entry.promise(following: $0))
      }
      #expect(notes.lines == ["rejected wanted"])
    }
  }

  @Test(arguments: APlusEntry.allCases)
  func `a promise that follows a cancelled one is rejected`(_ entry: APlusEntry) {
    let followed = Promise<String>()
    let promise = entry.promise(following: followed)
    followed.cancel()
    #expect(promise.error as? PromiseError == .cancelled)
  }

  @Test(arguments: APlusEntry.allCases)
  func `a promise that follows an abandoned one is rejected`(_ entry: APlusEntry) {
    // Its body runs on another thread, so the end may be still to come.
    let promise = entry.promise(following: Promise<String> { _, _ in })
    let error = #expect(throws: PromiseError.self) {
      _ = try runBlocking { try promise.await() }
    }
    #expect(error == .abandoned)
  }

  @Test(arguments: APlusEntry.allCases)
  func `a promise that follows a lazy one starts it`(_ entry: APlusEntry) throws {
    try inAPlusTime {
      let notes = APlusNotes()
      let followed = Promise<String>.lazy { fulfill, _ in
        notes.add("started")
        fulfill("wanted")
      }
      #expect(notes.lines == [])
      try #expect(entry.notes(following: followed) == ["fulfilled wanted"])
      #expect(notes.lines == ["started"])
    }
  }

  @Test(arguments: APlusEntry.allCases)
  func `cancelling a promise leaves the one that it follows`(_ entry: APlusEntry) {
    let followed = Promise<String>()
    let promise = entry.promise(following: followed)
    promise.cancel()
    #expect(followed.isPending)
    #expect(followed.fulfill("late"))
    #expect(promise.error as? PromiseError == .cancelled)
  }

  @Test(arguments: APlusEntry.allCases)
  func `a promise follows a progress promise as any other`(_ entry: APlusEntry) throws {
    try inAPlusTime {
      let followed = ProgressPromise<String>()
      aPlusLater { followed.promise.fulfill("wanted") }
      try #expect(entry.notes(following: followed) == ["fulfilled wanted"])
    }
  }

  // MARK: - 2.3.4: a plain value

  private struct Point: Equatable, Sendable {
    let x: Int
    /// Not what makes a then-able.
    func then(_ work: (Int) -> Void) { work(-x) }
  }

  @Test(arguments: APlusMoment.allCases)
  func `a handler's plain value is the next promise's, of whatever type`(_ moment: APlusMoment)
    throws
  {
    final class Object: Sendable {}
    let object = Object()
    try inAPlusTime {
      try moment.with(Result<String, APlusReason>.success("")) { promise in
        let nothing = promise.then { _ in }
        let null = promise.then { _ -> Int? in nil }
        let no = promise.then { _ in false }
        let yes = promise.then { _ in true }
        let zero = promise.then { _ in 0 }
        let objects = promise.then { _ in object }
        let array = promise.then { _ in [object] }
        let closure = promise.then { _ -> @Sendable () -> Int in { 42 } }
        let point = promise.then { _ in Point(x: 1) }
        aPlusLater {
          #expect(nothing.isFulfilled)
          #expect(null.value == .some(.none))
          #expect(no.value == false)
          #expect(yes.value == true)
          #expect(zero.value == 0)
          #expect(objects.value === object)
          #expect(array.value?.first === object)
          #expect(closure.value?() == 42)
          #expect(point.value == Point(x: 1))
        }
      }
    }
  }

  @Test(arguments: APlusMoment.allCases)
  func `a recovery's plain value is the next promise's, of whatever type`(_ moment: APlusMoment)
    throws
  {
    try inAPlusTime {
      try moment.with(Result<Int?, APlusReason>.failure(.other)) { promise in
        let null = promise.recover { _ in nil }
        let zero = promise.recover { _ in 0 }
        aPlusLater {
          #expect(null.value == .some(.none))
          #expect(zero.value == 0)
        }
      }
      try moment.with(Result<Point, APlusReason>.failure(.other)) { promise in
        let point = promise.recover { _ in Point(x: 2) }
        aPlusLater { #expect(point.value == Point(x: 2)) }
      }
    }
  }
}

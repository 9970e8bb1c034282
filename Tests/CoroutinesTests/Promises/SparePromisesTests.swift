// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Testing

@testable import Coroutines

/// The memory of promises that are gone serves again; nobody who can look may notice.
@Suite(.timeLimit(.minutes(30))) struct SparePromisesTests {
  /// Under a sanitizer all memory is given up.
  private static let memoryServesAgain = cck_is_instrumented() == 0

  /// Runs `body` on a thread that keeps no memory yet.
  private func onFreshThread(_ body: @escaping @Sendable () throws -> Void) throws {
    try runBlocking { try launch(on: SerialScheduler(name: "fresh"), body).value() }
  }

  /// Where a settled promise was that is gone now.
  private static func placeOfOne() -> ObjectIdentifier {
    let promise = Promise<Int>()
    promise.fulfill(1)
    return ObjectIdentifier(promise)
  }

  @Test(.enabled(if: memoryServesAgain))
  func `the memory of one serves the next, of another type too`() throws {
    try onFreshThread {
      let first = Self.placeOfOne()
      #expect(Self.placeOfOne() == first)
      let other = Promise<String>()
      #expect(ObjectIdentifier(other) == first)
      other.fulfill("one")
      #expect(other.value == "one")
      #expect(type(of: other as AnyPromise) == Promise<String>.self)
      // This is in use.
      #expect(Self.placeOfOne() != first)
    }
  }

  @Test func `it is a new promise in every respect`() throws {
    try onFreshThread {
      struct Lost: Error {}
      let called = SharedLog<String>()
      do {
        let cancelled = Promise<Int>().onCancel { _ in }
        cancelled.then { _ in called.add("then") }.catch { _ in called.add("cancelled") }
        cancelled.cancel()
        let rejected = Promise<[Int]>()
        rejected.reject(Lost())
        let fulfilled = Promise<(Int, Int, Int, Int)>()
        fulfilled.fulfill((1, 2, 3, 4))
        let abandoned = Promise<Int>()
        abandoned.then { _ in called.add("then") }.catch { _ in called.add("abandoned") }
      }
      #expect(called.entries == ["cancelled", "abandoned"])
      for number in 0..<16 {
        let promise = Promise<Int>()
        let line = UInt(#line - 1)
        #expect(promise.isPending)
        #expect(promise.error == nil)
        #expect(promise.value == nil)
        #expect(promise.creationSite.line == line)
        promise.onCancel { _ in Issue.record("nobody cancels it") }
        launch { promise.fulfill(number) }
        let value = try promise.await(onCancellation: .cancelPromise)
        #expect(value == number)
        #expect(!promise.fulfill(-1))
      }
    }
  }

  @Test func `what is dropped while it is pending is abandoned at once`() throws {
    try onFreshThread {
      let errors = SharedLog<String>()
      for round in 1...3 {
        do {
          let promise = Promise<Int>()
          promise.catch { errors.add("\($0 is PromiseError)") }
        }
        #expect(errors.entries.count == round)
      }
      #expect(Set(errors.entries) == ["true"])
    }
  }

  @Test func `a value goes with its promise`() throws {
    final class Token {}
    try onFreshThread {
      weak var value: Token?
      do {
        let promise = Promise<Token>()
        promise.fulfill(Token())
        value = promise.value
        #expect(value != nil)
      }
      #expect(value == nil)
    }
  }

  @Test func `a weak reference goes when the promise does, and leads to no other`() throws {
    try onFreshThread {
      weak var early: Promise<Int>?
      weak var late: Promise<Int>?
      do {
        let promise = Promise<Int>()
        early = promise
        promise.fulfill(1)
        late = promise
        #expect(early === late)
      }
      #expect(early == nil)
      #expect(late == nil)
      let next = Promise<Int>()
      #expect(early == nil)
      #expect(late == nil)
      withExtendedLifetime(next) {}
    }
  }

  @Test func `an unowned reference does not lead to the next one`() throws {
    final class Keeper {
      unowned let promise: Promise<Int>
      init(_ promise: Promise<Int>) { self.promise = promise }
    }
    try onFreshThread {
      let place: ObjectIdentifier
      let keeper: Keeper
      do {
        let promise = Promise<Int>()
        place = ObjectIdentifier(promise)
        keeper = Keeper(promise)
      }
      // As long as it is referred to, nothing else is there.
      for _ in 0..<4 { #expect(Self.placeOfOne() != place) }
      withExtendedLifetime(keeper) {}
    }
  }

  @Test(.enabled(if: memoryServesAgain))
  func `a thread keeps no more than its limit, and nothing at its end`() throws {
    final class Record: @unchecked Sendable {
      // SAFETY: written before the thread's coroutine ends, read after it was joined.
      var address: UnsafeMutablePointer<cck_thread_t>?
      var kept: UInt32 = 0
    }
    let record = Record()
    try onFreshThread {
      record.address = cck_thread_current()
      do {
        let promises = (0..<5000).map { _ in Promise<Int>() }
        for promise in promises { promise.fulfill(1) }
      }
      record.kept = cck_thread_current().pointee.promise_memory.count
    }
    #expect(record.kept == 1024)
  }

  @Test func `promises that one thread makes and another drops are each themselves`() throws {
    try runBlocking {
      let made = Channel<Promise<Int>>(capacity: 64)
      let dropping = launch(on: SerialScheduler(name: "dropping")) {
        var sum = 0
        for promise in made { sum += try promise.await() }
        return sum
      }
      for number in 0..<20_000 {
        let promise = Promise<Int>()
        try made.send(promise)
        promise.fulfill(number)
      }
      made.close()
      let sum = try dropping.value()
      #expect(sum == 20_000 * 19_999 / 2)
    }
  }

  @Test(.enabled(if: memoryServesAgain))
  func `memory of an ask's promise serves again on the thread that asks`() throws {
    let actor = MessageActor<(Int, Reply<Int>)>(on: SerialScheduler(name: "service")) { mailbox in
      for (number, reply) in mailbox { reply(number) }
    }
    try onFreshThread {
      var places: Set<ObjectIdentifier> = []
      // Held until the actor has taken the next message: before that it may be the last who lets go.
      var previous: Promise<Int>?
      for number in 0..<500 {
        let answer = actor.ask { (number, $0) }
        places.insert(ObjectIdentifier(answer))
        try #expect(answer.await() == number)
        previous = answer
      }
      withExtendedLifetime(previous) {}
      #expect(places.count < 10)
    }
  }

  @Test func `a promise begins with two words that hold nothing`() {
    let promise = Promise<Int>()
    let object = Unmanaged.passUnretained(promise).toOpaque()
    withUnsafeMutablePointer(to: &promise.site) {
      #expect(UnsafeMutableRawPointer($0) == object + FiberOwner.headerSize)
    }
    #expect(MemoryLayout<SourceSite>.size == 2 * MemoryLayout<UInt>.size)
    #expect(_isPOD(SourceSite.self))
    withExtendedLifetime(promise) {}
  }

  @Test func `all promises are of one size: they have no property of their own`() {
    let mirror = Mirror(reflecting: Promise<(String, Double, [Int])>())
    #expect(mirror.children.isEmpty)
    #expect(mirror.superclassMirror?.subjectType == AnyPromise.self)
  }
}

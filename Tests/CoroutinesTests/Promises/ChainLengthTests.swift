// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Chains of promises that are longer than a coroutine's stack is deep.
@Suite(.timeLimit(.minutes(30))) struct ChainLengthTests {
  private static let length = 20_000

  /// A step of a chain that passes a value on, and an error.
  enum Step: String, CaseIterable, Sendable {
    case value
    case promise
    case `catch`
    case recover
    case finally

    func after(_ promise: Promise<Int>) -> Promise<Int> {
      switch self {
      case .value: promise.then { $0 }
      case .promise: promise.then { Promise.fulfilled($0) }
      case .catch: promise.catch { _ in }
      case .recover: promise.recover { throw $0 }
      case .finally: promise.finally {}
      }
    }
  }

  /// Runs `body` on the stack that a coroutine has if nothing else is said.
  private func inCoroutine(_ body: @escaping () throws -> Void) throws {
    try runBlocking { try launch(body).value() }
  }

  @Test(arguments: Step.allCases)
  func `a long chain is fulfilled without recursion`(_ step: Step) throws {
    try inCoroutine {
      let first = Promise<Int>()
      var last = first
      for _ in 0..<Self.length { last = step.after(last) }
      first.fulfill(7)
      #expect(last.value == 7)
    }
  }

  @Test(arguments: Step.allCases)
  func `a long chain is rejected without recursion`(_ step: Step) throws {
    try inCoroutine {
      let first = Promise<Int>()
      var last = first
      for _ in 0..<Self.length { last = step.after(last) }
      first.reject(Failure(7))
      #expect(last.error as? Failure == Failure(7))
    }
  }

  @Test(arguments: Step.allCases)
  func `a long chain that is abandoned goes away without recursion`(_ step: Step) throws {
    try inCoroutine {
      var first: Promise<Int>? = Promise()
      var last = first ?? Promise()
      for _ in 0..<Self.length { last = step.after(last) }
      first = nil
      #expect(last.error as? PromiseError == .abandoned)
    }
  }

  @Test func `a long line of promises that follow one another is settled without recursion`() throws
  {
    try inCoroutine {
      let promises = (0..<Self.length).map { _ in Promise<Int>() }
      // From the end, so that none has to look far for a ring.
      for index in (1..<Self.length).reversed() { promises[index].follow(promises[index - 1]) }
      promises[0].fulfill(7)
      #expect(promises.allSatisfy { $0.value == 7 })
    }
  }

  @Test func `handlers, and those that await, come in the order of calls in calls`() throws {
    let log = SharedLog<String>()
    try runBlocking {
      let first = Promise<Int>()
      func observe(_ promise: Promise<Int>, _ name: String) {
        promise.then { _ in log.add("\(name) before") }
        launch {
          _ = try promise.await()
          log.add("\(name) awaited")
        }
      }
      observe(first, "first")
      let second = first.then { value -> Int in
        log.add("first's step")
        return value
      }
      observe(second, "second")
      let third = second.then { value -> Promise<Int> in
        log.add("second's step")
        return Promise.fulfilled(value)
      }
      observe(third, "third")
      first.then { _ in log.add("first after") }
      try Coroutine.yield()
      first.fulfill(7)
      log.add("fulfilled")
      for _ in 0..<3 { try Coroutine.yield() }
    }
    #expect(
      log.entries == [
        "first before", "first's step", "second before", "second's step", "third before",
        "first after", "fulfilled", "third awaited", "second awaited", "first awaited",
      ]
    )
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Foundation
import Testing

@testable import CoroutinesFoundation

@Suite(.timeLimit(.minutes(30))) struct BlockingCallTests {
  @Test func `outside a coroutine the call is made on the caller's thread`() throws {
    let thread = ObjectIdentifier(Thread.current)
    try #expect(blockingCall { ObjectIdentifier(Thread.current) == thread })
    try #expect(exclusiveCall { ObjectIdentifier(Thread.current) == thread })
  }

  @Test func `inside a coroutine it is made on another thread, and others run meanwhile (3.5-c3)`()
    throws
  {
    try runBlocking {
      let thread = ObjectIdentifier(Thread.current)
      let gate = DispatchSemaphore(value: 0)
      // The call ends only when another coroutine of this thread has run.
      launch { gate.signal() }
      let isElsewhere = try blockingCall {
        gate.wait()
        return ObjectIdentifier(Thread.current) != thread
      }
      #expect(isElsewhere)
      launch { gate.signal() }
      let isElsewhereToo = try exclusiveCall {
        gate.wait()
        return ObjectIdentifier(Thread.current) != thread
      }
      #expect(isElsewhereToo)
    }
  }

  @Test(arguments: [true, false])
  func `it is made on another thread from a background queue, too (3.5-c3)`(
    _ isGlobal: Bool
  ) throws {
    let queue =
      isGlobal
      ? DispatchQueue.global(qos: .background) : DispatchQueue(label: "test", qos: .background)
    try runBlocking {
      let gate = DispatchSemaphore(value: 0)
      // Ends well only if another coroutine of the queue has run meanwhile.
      let callers = [
        launch(on: queue) { try blockingCall { gate.wait(timeout: .now() + 300) == .success } },
        launch(on: queue) { try exclusiveCall { gate.wait(timeout: .now() + 300) == .success } },
      ]
      let other = launch(on: queue) { for _ in 0..<2 { gate.signal() } }
      try other.value()
      for caller in callers { try #expect(caller.value()) }
    }
  }

  @Test func `what the call throws is thrown`() throws {
    #expect(throws: Failure(1)) { try exclusiveCall { throw Failure(1) } }
    try runBlocking {
      #expect(throws: Failure(2)) { try blockingCall { throw Failure(2) } }
      #expect(throws: Failure(3)) { try exclusiveCall { throw Failure(3) } }
    }
  }

  @Test func `a call that throws CancellationError itself is no hang`() throws {
    _ = try runBlocking {
      #expect(throws: CancellationError.self) { try exclusiveCall { throw CancellationError() } }
    }
  }

  @Test func `cancelling a plain call ends the wait before the call`() throws {
    try runBlocking {
      let gate = DispatchSemaphore(value: 0)
      let begun = Counter()
      let coroutine = launch {
        try blockingCall {
          begun.add()
          gate.wait()
        }
      }
      while begun.value == 0 { try Coroutine.yield() }
      try coroutine.cancelAndJoin()
      gate.signal()
      #expect(throws: CancellationError.self) { try coroutine.value() }
    }
  }

  @Test func `cancelling an exclusive call ends the wait after the call`() throws {
    try runBlocking {
      let gate = DispatchSemaphore(value: 0)
      let (begun, ended) = (Counter(), Counter())
      let coroutine = launch {
        defer { #expect(ended.value == 1) }
        try exclusiveCall {
          begun.add()
          gate.wait()
          ended.add()
        }
      }
      while begun.value == 0 { try Coroutine.yield() }
      coroutine.cancel()
      for _ in 0..<100 { try Coroutine.yield() }
      #expect(!coroutine.isFinished)
      gate.signal()
      #expect(throws: CancellationError.self) { try coroutine.value() }
    }
  }

  @Test func `an exclusive call that has not begun is not made after a cancellation (3.5-c9)`()
    throws
  {
    let made = Counter()
    try #expect(refusesWhenCancelled { try exclusiveCall { _ = made.add() } })
    #expect(made.value == 0)
  }
}

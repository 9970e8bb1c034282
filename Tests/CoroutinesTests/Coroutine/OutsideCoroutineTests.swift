// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

/// Rule 12: a call that parks, made where there is no coroutine, is a typed error that names the call.
@Suite struct OutsideCoroutineTests {
  struct Call: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable () throws -> Void

    init(_ name: String, _ make: @escaping @Sendable () throws -> Void) {
      testDescription = name
      self.make = make
    }
  }

  private static let finished: ValueCoroutine<Int> = {
    let coroutine = launch(on: SerialScheduler()) { 1 }
    try? runBlocking { try coroutine.join() }
    return coroutine
  }()

  private static let calls = [
    Call("Coroutine.yield()") { try Coroutine.yield() },
    Call("Coroutine.yield()") { try Coroutine.sleep(for: .zero) },
    Call("Coroutine.sleep(for:)") { try Coroutine.sleep(for: .seconds(1)) },
    Call("Coroutine.sleep(until:)") {
      try Coroutine.sleep(until: CoroutineClock().now.advanced(by: .seconds(1)))
    },
    Call("Coroutine.join()") { try finished.join() },
    Call("Coroutine.join()") { try finished.cancelAndJoin() },
    Call("Coroutine.value()") { _ = try finished.value() },
    Call("withCoroutineScope(_:)") { try withCoroutineScope { _ in } },
    Call("withTimeout(_:)") { try withTimeout(.seconds(1)) {} },
    Call("withDeadline(_:)") { try withDeadline(CoroutineClock().now) {} },
    Call("withDeadline(_:)") { try withDeadline(ContinuousClock.now) {} },
    Call("withCancellationShield(_:)") { try withCancellationShield {} },
    Call("CoroutineLocal.withValue(_:)") { try CoroutineLocal(0).withValue(1) {} },
  ]

  private func expectRefusal(_ call: Call, _ error: (any Error)?) {
    #expect(error as? CoroutineError == .outsideCoroutine)
    #expect("\(error as Any)".contains(call.testDescription))
    #expect("\(error as Any)".contains("Call it inside"))
  }

  private static func outcome(of call: Call) -> (any Error)? {
    do {
      try call.make()
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: calls)
  func `on a plain thread it throws (rule 12)`(_ call: Call) {
    expectRefusal(call, onPlainThread { Self.outcome(of: call) })
  }

  @Test(arguments: calls)
  func `in a plain block of a queue it throws (rule 12)`(_ call: Call) {
    let queue = DispatchQueue(label: "test")
    expectRefusal(call, queue.sync { Self.outcome(of: call) })
  }

  @Test(arguments: calls)
  func `in a plain block of a queue that has coroutines it throws (rule 12)`(_ call: Call) throws {
    let queue = DispatchQueue(label: "test")
    let coroutine = launch(on: queue) { try waitForEver() }
    expectRefusal(call, queue.sync { Self.outcome(of: call) })
    coroutine.cancel()
  }
}

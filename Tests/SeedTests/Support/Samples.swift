// SPDX-License-Identifier: Apache-2.0

import CoswiftScenarios
import Dispatch
import Foundation
import Testing
import coswift

/// Plays a sample on a serial queue, and compares its steps with those that the document states.
func check(_ sample: Scenario, sourceLocation: SourceLocation = #_sourceLocation) {
  let steps = sample.steps(on: DispatchQueue(label: "sample"))
  #expect(steps == sample.expected, sourceLocation: sourceLocation)
}

extension Scenario {
  /// A sample whose steps have an order: played on a serial queue by the test of its section, and on the main
  /// queue, which the documents mean, by `MainQueueTests`.
  ///
  /// - Parameters:
  ///   - section: Document and section.
  ///   - expected: The steps, in the order that the document states.
  ///   - body: The sample; it runs in a plain block of the queue.
  init(
    _ section: String,
    expected: [String],
    _ body: @escaping @Sendable (Play) -> Void
  ) {
    self.init(0, section, expected: expected, body)
  }
}

extension Play {
  /// Ends the play when these have ended, in whatever way.
  ///
  /// - Parameters:
  ///   - coroutines: Those to wait for.
  ///   - last: Runs before the end.
  func finish(after coroutines: Coroutine..., last: @escaping () -> Void = {}) {
    co_launch {
      for coroutine in coroutines { coroutine.join() }
      last()
      self.finish()
    }
  }
}

/// Runs `body` as a coroutine on a queue of its own, and waits for its end; throws what it throws.
func inCoroutine(
  on queue: DispatchQueue = DispatchQueue(label: "sample"),
  _ body: @escaping () throws -> Void
) throws {
  let end = DispatchSemaphore(value: 0)
  let coroutine = Coroutine(block: body, on: queue)
  coroutine.finishedBlock = { end.signal() }
  coroutine.resume()
  guard end.wait(timeout: .now() + 300) == .success else { throw DidNotEnd() }
  if let error = coroutine.lastError { throw error }
}

/// A sample did not end within 30 seconds.
struct DidNotEnd: Error {}

/// Tells when it goes away.
final class Probe: Sendable {
  private let onEnd: @Sendable () -> Void

  init(_ onEnd: @escaping @Sendable () -> Void) {
    self.onEnd = onEnd
  }

  deinit {
    onEnd()
  }
}

/// `[COPromise isPromiseCancelled:]`: in Swift the error says it itself.
func isPromiseCancelled(_ error: (any Error)?) -> Bool { error as? COError == .promiseCancelled }

// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import coswift

/// Runs `body` as a coroutine, on a queue of its own if none is given, and waits for it.
///
/// Throws what it throws, and `DidNotEnd` after 30 seconds.
func inCoroutine(
  on queue: DispatchQueue = DispatchQueue(label: "test"),
  _ body: @escaping () throws -> Void
) throws {
  let end = DispatchSemaphore(value: 0)
  let coroutine = Coroutine(block: body, on: queue)
  coroutine.finishedBlock = { end.signal() }
  coroutine.resume()
  guard end.wait(timeout: .now() + 300) == .success else { throw DidNotEnd() }
  if let error = coroutine.lastError { throw error }
}

/// Runs `body` in a plain block of a queue, where no coroutine runs.
func inBlock<Result: Sendable>(
  of queue: DispatchQueue = DispatchQueue(label: "test"),
  _ body: @Sendable () throws -> Result
) rethrows -> Result {
  try queue.sync(execute: body)
}

/// A test's coroutine did not end in time.
struct DidNotEnd: Error {}

/// An error of the tests' own.
struct Problem: Error, Equatable {
  let number: Int

  init(_ number: Int) {
    self.number = number
  }
}

/// What happened, in the order in which it did, from any thread.
final class Log: @unchecked Sendable {
  // SAFETY: guarded by the lock.
  private let lock = NSLock()
  private var lines: [String] = []

  /// Everything noted so far.
  var entries: [String] { lock.withLock { lines } }

  /// Notes something.
  func callAsFunction(_ line: String) {
    lock.withLock { lines.append(line) }
  }
}

/// A value that threads hand to one another.
final class Cell<Value>: @unchecked Sendable {
  // SAFETY: guarded by the lock.
  private let lock = NSLock()
  private var content: Value

  init(_ value: Value) {
    content = value
  }

  /// The value.
  var value: Value {
    get { lock.withLock { content } }
    set { lock.withLock { content = newValue } }
  }

  /// Changes the value.
  func update(_ change: (inout Value) -> Void) {
    lock.withLock { change(&content) }
  }
}

/// Tells when it goes away.
final class Probe: @unchecked Sendable {
  private let onEnd: () -> Void

  init(_ onEnd: @escaping () -> Void) {
    self.onEnd = onEnd
  }

  deinit {
    onEnd()
  }
}

/// The `COError` that `work` throws, or nil.
func cancellation(of work: () throws -> Void) -> COError? {
  do {
    try work()
    return nil
  } catch {
    return error as? COError
  }
}

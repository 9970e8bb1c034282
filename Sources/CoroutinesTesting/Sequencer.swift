// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines

/// Numbered places in a test that are passed in the order of their numbers, whatever runs when.
///
/// ```swift
/// let sequencer = Sequencer()
/// launch { try sequencer.step(1) { log("second") } }
/// launch { try sequencer.step(0) { log("first") } }
/// ```
public final class Sequencer: Sendable {
  private let steps = Steps()

  /// A sequencer at number 0.
  public init() {}

  /// Parks until all smaller numbers have been passed, runs `body`, and passes this one.
  ///
  /// *Cancellation:* ends the wait; the number is not passed, and those behind it wait on.
  ///
  /// - Parameters:
  ///   - number: 0 or more; each number once.
  ///   - body: What to do at this place. If it throws, the number is passed all the same.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func step<Result>(_ number: Int, _ body: () throws -> Result) throws -> Result {
    demand(number >= 0, "Step \(number) of a sequencer; they begin with 0.")
    let (before, own) = steps.promises(of: number)
    try before?.await()
    defer {
      let isFirst = own.fulfill(())
      demand(
        isFirst,
        "Step \(number) of a sequencer was passed twice. Give each place a number of its own."
      )
    }
    return try body()
  }

  /// Parks until all smaller numbers have been passed, and passes this one.
  ///
  /// - Parameter number: 0 or more; each number once.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func step(_ number: Int) throws { try step(number) {} }

  /// The steps' ends.
  private final class Steps: @unchecked Sendable {
    // SAFETY: guarded by the lock.
    private let lock = AllocatedLock()
    private var promises: [Promise<Void>] = []

    func promises(of number: Int) -> (before: Promise<Void>?, own: Promise<Void>) {
      lock.withLock {
        while promises.count <= number { promises.append(Promise<Void>()) }
        return (number > 0 ? promises[number - 1] : nil, promises[number])
      }
    }
  }
}

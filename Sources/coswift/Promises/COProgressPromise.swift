// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// A promise that tells how far it has come: iterate its fractions, then await it.
///
/// ```swift
/// for fraction in download { print(fraction) }
/// let data = try co_await(promise: download).get()
/// ```
///
/// A loop gets each fraction from 0 to 1 that it is fast enough for, the latest if it is not, and the last one
/// in any case. It ends when the promise is settled. Fulfilment does not add a fraction of 1.
public class COProgressPromise<T>: Promise<T>, Sequence, @unchecked Sendable {
  // SAFETY: as for Promise.
  let meter: ProgressPromise<T>

  /// A pending promise, without a fraction.
  public override init() {
    let core = Coroutines.Promise<T>()
    meter = ProgressPromise(core)
    super.init(core: core)
  }

  /// Says how far the work has come; from any thread.
  ///
  /// - Parameter fraction: From 0 to 1; other numbers are brought into that range.
  public func progress(_ fraction: Double) {
    meter.report(fraction)
  }

  /// How far it has come: the latest fraction; 0 before the first.
  public var fractionCompleted: Double { meter.fraction }

  /// Gives the fractions to a loop.
  ///
  /// The loop waits, so it belongs into a coroutine; outside one it stops the program with a message. If the
  /// coroutine is cancelled the loop ends, and the next wait throws.
  public struct Iterator: IteratorProtocol {
    var base: ProgressPromise<T>.Iterator

    /// Waits for a fraction that this loop has not seen.
    ///
    /// - Returns: The latest fraction; nil once the promise is settled and the last one given.
    public mutating func next() -> Double? { base.next() }
  }

  /// The fractions; several loops do not disturb one another.
  ///
  /// - Returns: The iterator.
  public func makeIterator() -> Iterator { Iterator(base: meter.makeIterator()) }
}

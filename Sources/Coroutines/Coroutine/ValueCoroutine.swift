// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// The handle of a coroutine whose body returns a value.
///
/// This is what `launch` returns; where the value is of no interest, treat it as a plain `Coroutine`.
public final class ValueCoroutine<Value>: Coroutine, @unchecked Sendable {
  // SAFETY: as for Coroutine; `result` is written before the coroutine is finished, read after.

  @exclusivity(unchecked)
  @usableFromInline
  var work: (() throws -> Value)?

  @exclusivity(unchecked)
  @usableFromInline
  var result: Value?

  @inlinable
  package init(
    home: UnsafeMutablePointer<Home>,
    stackSize: StackSize,
    site: SourceSite,
    thread: ThreadRecord,
    work: @escaping () throws -> Value
  ) {
    self.work = work
    self.result = nil
    super.init(home: home, stackSize: stackSize, site: site, thread: thread)
  }

  @inlinable
  package override func runBody() throws {
    guard let work else { return }
    // What the body holds on to is released as soon as it has ended, whoever keeps the handle.
    defer { self.work = nil }
    result = try work()
  }

  @inlinable
  package override func dropBody() {
    work = nil
  }

  /// The value once finished; throws what the body threw.
  @usableFromInline
  package func outcome() throws -> Value {
    isObserved.set()
    if let failure { throw failure }
    guard let result else {
      preconditionFailure("\(self) has finished with neither a value nor an error.")
    }
    return result
  }
}

extension ValueCoroutine {
  /// Parks the calling coroutine until this one has finished, and returns its value.
  ///
  /// Returns without parking if it has finished already. Any number of coroutines may wait, on any
  /// schedulers; each gets the value.
  ///
  /// *Cancellation:* if the caller is cancelled meanwhile, only the caller's wait ends.
  ///
  /// - Returns: What the body returned.
  /// - Throws: What the body threw (`CancellationError` if it was cancelled); `CancellationError` if
  ///   the caller is cancelled; `CoroutineError` outside a coroutine or on itself.
  @available(*, noasync, message: "In async code, write `try await coroutine.value()`.")
  public func value() throws -> Value {
    try waitForEnd("value()")
    return try outcome()
  }

  /// Suspends the calling task until this coroutine has finished, and returns its value.
  ///
  /// *Cancellation:* if the task is cancelled, the wait ends; the coroutine goes on.
  ///
  /// - Returns: What the body returned.
  /// - Throws: What the body threw, or `CancellationError` if the task is cancelled.
  public func value() async throws -> Value {
    try await waitForEnd()
    return try outcome()
  }
}

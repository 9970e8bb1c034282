// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

extension Promise {
  /// A promise for what `work` makes of the value.
  ///
  /// A rejection skips `work` and passes through.
  ///
  /// What makes another promise is followed (see the other `then`), and which of them is meant the compiler finds out anew
  /// for each closure. A chain of several short ones, with operators, may take it too long: use `map` there.
  ///
  /// - Parameter work: Called where this promise is settled. What it throws rejects the new promise.
  /// - Returns: The new promise. Dropping it does not stop the work.
  @inlinable @inline(__always)
  @discardableResult
  public func then<NewValue>(
    _ work: @escaping @Sendable (Value) throws -> NewValue
  ) -> Promise<NewValue> {
    map(work)
  }

  /// A promise for what `work` makes of the value, whatever that is.
  ///
  /// As `then`, which also takes what makes another promise: here there is nothing for the compiler to find out.
  ///
  /// ```swift
  /// let number = Promise<Int>()
  /// let text = number.map { $0 * 2 }.map { $0 + 1 }.map { "\($0)" }.map { $0 + "!" }
  /// ```
  ///
  /// - Parameter work: Called where this promise is settled. What it throws rejects the new promise.
  /// - Returns: The new promise. Dropping it does not stop the work.
  @inlinable @inline(__always)
  @discardableResult
  public func map<NewValue>(
    _ work: @escaping @Sendable (Value) throws -> NewValue
  ) -> Promise<NewValue> {
    // Written out, not by `derive`: one closure for the observer in place of three.
    let next = Promise<NewValue>(file: creationSite.file, line: creationSite.line)
    addObserver { settled, rest in
      let cell = settled.state.cell
      if let error = cell.pointee.failure {
        next.settle(failure: error, &rest)
        return
      }
      do {
        let value = try work(cell.load(as: Value.self))
        guard let mode = next.beginSettling(currentThread()) else { return }
        next.state.cell.store(consume value)
        next.endSettling(&rest, mode)
      } catch {
        next.settle(failure: error, &rest)
      }
    }
    return next
  }

  /// A promise that follows the one that `work` makes of the value.
  ///
  /// - Parameter work: Called where this promise is settled. What it throws rejects the new promise.
  /// - Returns: The new promise.
  @inlinable
  @discardableResult
  public func then<NewValue>(
    _ work: @escaping @Sendable (Value) throws -> Promise<NewValue>
  ) -> Promise<NewValue> {
    derive { outcome, next, rest in
      do {
        next.follow(try work(outcome.get()), &rest)
      } catch {
        next.settle(.failure(error), &rest)
      }
    }
  }

  /// Looks at the error, if the promise is rejected; the new promise settles like this one.
  ///
  /// - Parameter handler: Called where this promise is settled.
  /// - Returns: A promise with the same outcome.
  @inlinable
  @discardableResult
  public func `catch`(_ handler: @escaping @Sendable (any Error) -> Void) -> Promise {
    derive { outcome, next, rest in
      if case .failure(let error) = outcome { handler(error) }
      next.settle(outcome, &rest)
    }
  }

  /// A promise that has a value in place of an error.
  ///
  /// - Parameter work: Makes the value; called where this promise is rejected. What it throws rejects the
  ///   new promise.
  /// - Returns: The new promise.
  @inlinable
  @discardableResult
  public func recover(_ work: @escaping @Sendable (any Error) throws -> Value) -> Promise {
    derive { outcome, next, rest in
      switch outcome {
      case .success: next.settle(outcome, &rest)
      case .failure(let error): next.settle(Result { try work(error) }, &rest)
      }
    }
  }

  /// Does something whatever the promise comes to; the new promise settles like this one.
  ///
  /// - Parameter work: Called where this promise is settled. What it throws rejects the new promise.
  /// - Returns: A promise with the same outcome.
  @inlinable
  @discardableResult
  public func finally(_ work: @escaping @Sendable () throws -> Void) -> Promise {
    derive { outcome, next, rest in
      do {
        try work()
        next.settle(outcome, &rest)
      } catch {
        next.settle(.failure(error), &rest)
      }
    }
  }

  /// A promise that is settled by `step` once this one is.
  ///
  /// If this one goes away before, the closure goes with it, and with the closure the new promise's
  /// last way to be settled.
  @inlinable @inline(__always)
  func derive<NewValue>(
    _ step: @escaping (Outcome, Promise<NewValue>, inout SettlementWork) -> Void
  ) -> Promise<NewValue> {
    let next = Promise<NewValue>(file: creationSite.file, line: creationSite.line)
    // SAFETY: an observer gets the promise that it was added to.
    addObserver { step(unsafeDowncast($0, to: Promise.self).settledOutcome, next, &$1) }
    return next
  }
}

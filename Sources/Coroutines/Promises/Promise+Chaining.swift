// SPDX-License-Identifier: Apache-2.0

extension Promise {
  /// A promise for what `work` makes of the value.
  ///
  /// A rejection skips `work` and passes through.
  ///
  /// - Parameter work: Called where this promise is settled. What it throws rejects the new promise.
  /// - Returns: The new promise. Dropping it does not stop the work.
  @discardableResult
  public func then<NewValue>(
    _ work: @escaping @Sendable (Value) throws -> NewValue
  ) -> Promise<NewValue> {
    derive { outcome, next, rest in
      next.settle(Result { try work(outcome.get()) }, &rest)
    }
  }

  /// A promise that follows the one that `work` makes of the value.
  ///
  /// - Parameter work: Called where this promise is settled. What it throws rejects the new promise.
  /// - Returns: The new promise.
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
  func derive<NewValue>(
    _ step: @escaping (Outcome, Promise<NewValue>, inout SettlementWork) -> Void
  ) -> Promise<NewValue> {
    let next = Promise<NewValue>(file: creationSite.file, line: creationSite.line)
    var work = SettlementWork()
    observe(&work) { step($0, next, &$1) }
    work.run()
    return next
  }
}

// SPDX-License-Identifier: Apache-2.0

/// What a callback or a delegate settles a promise with.
///
/// The first call counts, and later ones are ignored, so an interface that calls back twice does no harm.
/// When all copies have gone away without a call, the promise is rejected with `PromiseError.abandoned`.
/// May be called from any thread.
public struct CallbackResolver<Value>: Sendable {
  /// The right to settle; going away without having done so is an end too.
  private final class Right: Sendable {
    let promise: Promise<Value>

    init(_ promise: Promise<Value>) { self.promise = promise }

    deinit {
      if promise.isPending { promise.reject(PromiseError.abandoned(promise.creationSite)) }
    }
  }

  private let right: Right

  init(_ promise: Promise<Value>) {
    right = Right(promise)
  }

  /// Settles with a value.
  ///
  /// - Parameter value: The value.
  /// - Returns: False if it was settled before.
  @discardableResult
  public func callAsFunction(_ value: sending Value) -> Bool { right.promise.fulfill(value) }

  /// Settles with an error.
  ///
  /// - Parameter error: The error.
  /// - Returns: False if it was settled before.
  @discardableResult
  public func callAsFunction(throwing error: any Error) -> Bool { right.promise.reject(error) }

  /// Settles with what a result holds.
  ///
  /// - Parameter result: The result.
  /// - Returns: False if it was settled before.
  @discardableResult
  public func callAsFunction<Failure: Error>(_ result: sending Result<Value, Failure>) -> Bool {
    switch result {
    case .success(let value):
      // SAFETY: the result was given away, and so was what it holds.
      nonisolated(unsafe) let value = value
      return right.promise.fulfill(value)
    case .failure(let error): return right.promise.reject(error)
    }
  }

  /// Settles with the value or the error of a callback that has a parameter for each.
  ///
  /// - Parameters:
  ///   - value: The value, if there is one; it counts even beside an error.
  ///   - error: The error, if there is one. With neither, the promise is rejected as abandoned.
  /// - Returns: False if it was settled before.
  @discardableResult
  public func callAsFunction(_ value: sending Value?, _ error: (any Error)?) -> Bool {
    if let value {
      // SAFETY: the optional was given away, and so was what it holds.
      nonisolated(unsafe) let value = value
      return right.promise.fulfill(value)
    }
    return right.promise.reject(error ?? PromiseError.abandoned(right.promise.creationSite))
  }
}

extension CallbackResolver<Void> {
  /// Settles without a value.
  ///
  /// - Returns: False if it was settled before.
  @discardableResult
  public func callAsFunction() -> Bool { callAsFunction(()) }
}

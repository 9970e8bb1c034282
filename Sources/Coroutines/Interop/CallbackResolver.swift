// SPDX-License-Identifier: Apache-2.0

/// What a callback, a delegate or a `Thenable` settles a promise with.
///
/// The first call counts, and later ones are ignored, so an interface that calls back twice does no harm; also
/// when the first was `follow`, and the promise is pending still.
/// When all copies have gone away without a call, the promise is rejected with `PromiseError.abandoned`.
/// May be called from any thread.
public struct CallbackResolver<Value>: Sendable {
  @usableFromInline let right: SettlingRight<Value>

  init(_ right: SettlingRight<Value>) {
    self.right = right
  }

  /// The right to settle a promise.
  ///
  /// Others may settle it all the same, if they have the promise.
  ///
  /// - Parameter promise: The promise.
  @inlinable
  public init(_ promise: Promise<Value>) {
    right = SettlingRight(promise)
  }

  /// Settles with a value.
  ///
  /// - Parameter value: The value.
  /// - Returns: False if it was settled before.
  @inlinable
  @discardableResult
  public func callAsFunction(@_eagerMove _ value: sending Value) -> Bool {
    // Handed on, and not kept to the end of this call: one retain and one release less for an object.
    right.fulfill(value)
  }

  /// Settles with an error.
  ///
  /// - Parameter error: The error.
  /// - Returns: False if it was settled before.
  @inlinable
  @discardableResult
  public func callAsFunction(throwing error: any Error) -> Bool { right.reject(error) }

  /// Settles with what a result holds.
  ///
  /// - Parameter result: The result.
  /// - Returns: False if it was settled before.
  @inlinable
  @discardableResult
  public func callAsFunction<Failure: Error>(_ result: sending Result<Value, Failure>) -> Bool {
    switch result {
    case .success(let value):
      // SAFETY: the result was given away, and so was what it holds.
      nonisolated(unsafe) let value = value
      return right.fulfill(value)
    case .failure(let error): return right.reject(error)
    }
  }

  /// Settles the promise as a then-able will be.
  ///
  /// In `Thenable.whenSettled`, the other one is asked once that has returned.
  ///
  /// - Parameter thenable: The then-able; the promise itself is refused with `PromiseError.adoptsItself`.
  /// - Returns: False if it was settled before: the then-able is not asked.
  @discardableResult
  public func follow(_ thenable: sending some Thenable<Value>) -> Bool { right.follow(thenable) }

  /// Settles with an outcome that the caller may hand over.
  @discardableResult
  package func settle(_ outcome: Promise<Value>.Outcome) -> Bool { right.settle(outcome) }

  /// Settles with the value or the error of a callback that has a parameter for each.
  ///
  /// - Parameters:
  ///   - value: The value, if there is one; it counts even beside an error.
  ///   - error: The error, if there is one. With neither, the promise is rejected as abandoned.
  /// - Returns: False if it was settled before.
  @inlinable
  @discardableResult
  public func callAsFunction(_ value: sending Value?, _ error: (any Error)?) -> Bool {
    if let value {
      // SAFETY: the optional was given away, and so was what it holds.
      nonisolated(unsafe) let value = value
      return right.fulfill(value)
    }
    return right.reject(error ?? PromiseError.abandoned(right.promise.creationSite))
  }
}

extension CallbackResolver<Void> {
  /// Settles without a value.
  ///
  /// - Returns: False if it was settled before.
  @inlinable
  @discardableResult
  public func callAsFunction() -> Bool { callAsFunction(()) }
}

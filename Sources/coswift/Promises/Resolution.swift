// SPDX-License-Identifier: Apache-2.0

/// What a promise has come to.
public enum Resolution<T> {
  /// A value.
  case fulfilled(T)
  /// An error; `COError.promiseCancelled` if somebody cancelled the promise.
  case rejected(any Error)

  /// The value, or the error thrown.
  ///
  /// - Returns: The value.
  /// - Throws: The error.
  public func get() throws -> T {
    switch self {
    case .fulfilled(let value): return value
    case .rejected(let error): throw error
    }
  }

  /// From the core's form.
  init(_ outcome: Result<T, any Error>) {
    switch outcome {
    case .success(let value): self = .fulfilled(value)
    case .failure(let error): self = .rejected(COError.translating(error))
    }
  }

  /// The error, if there is one.
  var error: (any Error)? {
    if case .rejected(let error) = self { error } else { nil }
  }
}

extension Resolution: Sendable where T: Sendable {}

// SPDX-License-Identifier: Apache-2.0

/// What an iterator gave, or an asynchronous task came to.
public struct RJResult: @unchecked Sendable, CustomStringConvertible {
  // SAFETY: constant; its contents go where the user sends them.

  /// What was yielded or returned, or the task's value.
  public let value: Any?
  /// What the body threw, or the task's error.
  public let error: Any?
  /// The iterator has ended.
  public let done: Bool

  /// A result.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - error: The error.
  ///   - done: The end has come.
  public init(value: Any?, error: Any? = nil, done: Bool = false) {
    self.value = value
    self.error = error
    self.done = done
  }

  /// `{value: 1, done: false}`, with the error if there is one.
  public var description: String {
    let value = value.map { "\($0)" } ?? "nil"
    return "{value: \(value), \(error.map { "error: \($0), " } ?? "")done: \(done)}"
  }
}

/// A misuse of an iterator.
public struct RJError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What happened, to what, and what to do.
  public let description: String

  /// `rj_yield` or `rj_await` was called where no iterator runs.
  public static let outsideIterator = RJError(
    description:
      "rj_yield and rj_await work in the block of an RJIterator or of rj_async, and in what it calls. "
      + "No iterator runs here."
  )

  /// An iterator was asked for a value while its body runs: by the body itself, or by another thread.
  public static let alreadyRunning = RJError(
    description:
      "The iterator's body runs and cannot be resumed: it asked itself for a value, or two threads use it. "
      + "An iterator belongs to one user at a time."
  )

  /// A task dropped its callback without calling it.
  public static let neverCalledBack = RJError(
    description:
      "A task of rj_await dropped its callback without calling it, so no result can come. Call it on "
      + "every path, errors included."
  )
}

/// Lets `catch RJError.alreadyRunning` be written.
extension RJError {
  /// Whether an error is this one.
  ///
  /// - Parameters:
  ///   - pattern: The error to look for.
  ///   - error: Any error.
  /// - Returns: True if `error` is of this type and equal to `pattern`.
  public static func ~= (pattern: RJError, error: any Error) -> Bool {
    (error as? RJError) == pattern
  }
}

// SPDX-License-Identifier: Apache-2.0

/// What a `select` has come to: the result of its winner's action, or an error.
public enum SelectOutcome<Result> {
  /// What the action returned.
  case value(Result)
  /// What it threw, or why no clause has won.
  case failure(any Error)

  /// The result, if there is one.
  ///
  /// - Returns: What the action returned.
  /// - Throws: What it threw, or why no clause has won.
  @inlinable @inline(__always)
  public func get() throws -> Result {
    switch self {
    case .value(let result): return result
    case .failure(let error): throw error
    }
  }
}

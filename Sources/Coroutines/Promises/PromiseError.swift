// SPDX-License-Identifier: Apache-2.0

/// Why a promise was rejected by the library itself.
public struct PromiseError: Error, Sendable, Hashable, CustomStringConvertible {
  private enum Kind: Hashable, Sendable {
    case cancelled
    case abandoned
    case adoptsItself
    case noneFulfilled
  }

  private let kind: Kind

  /// What happened, to what, and what to do.
  public let description: String

  /// The errors of all promises, in order, when `Promise.any` found none that was fulfilled.
  public let reasons: [String]

  private init(_ kind: Kind, _ description: String, reasons: [String] = []) {
    self.kind = kind
    self.description = description
    self.reasons = reasons
  }

  /// Two errors are equal when they are of the same kind, whatever promise they are about.
  public static func == (one: PromiseError, other: PromiseError) -> Bool {
    one.kind == other.kind
  }

  /// Feeds the kind to the hasher.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
  }

  /// Somebody cancelled the promise.
  public static let cancelled = PromiseError(
    .cancelled,
    "The promise was cancelled, so it has no value. Who calls its cancel() decides that."
  )

  /// Everything that could have settled the promise is gone.
  public static let abandoned = abandoned(nil)

  /// A promise was to take the outcome of itself.
  public static let adoptsItself = PromiseError(
    .adoptsItself,
    "The promise was to follow itself, directly or through others, and would never settle. Fulfil it "
      + "with another one."
  )

  /// None of the promises given to `Promise.any` was fulfilled, or there were none.
  public static let noneFulfilled = noneFulfilled([])

  static func abandoned(_ site: SourceSite?) -> PromiseError {
    PromiseError(
      .abandoned,
      "The promise\(site.map { " made at \($0)" } ?? "") was abandoned: everything that could have "
        + "fulfilled or rejected it went away without doing so. Call one of the two on every path, "
        + "errors included."
    )
  }

  static func noneFulfilled(_ reasons: [any Error]) -> PromiseError {
    PromiseError(
      .noneFulfilled,
      "None of \(reasons.count) promises was fulfilled; their errors are in `reasons`.",
      reasons: reasons.map { "\($0)" }
    )
  }
}

/// Lets `catch PromiseError.cancelled` be written.
extension PromiseError {
  /// Whether an error is this one.
  ///
  /// - Parameters:
  ///   - pattern: The error to look for.
  ///   - error: Any error.
  /// - Returns: True if `error` is of this type and equal to `pattern`.
  public static func ~= (pattern: PromiseError, error: any Error) -> Bool {
    (error as? PromiseError) == pattern
  }
}

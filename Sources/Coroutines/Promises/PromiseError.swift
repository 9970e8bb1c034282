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

  /// Where the promise was made; nil in the members to compare with.
  private let site: SourceSite?

  /// The promise is that of an ask; `site` is where that was.
  private let isAsk: Bool

  /// Of `noneFulfilled`: why each of the promises was rejected; else empty.
  public let reasons: [String]

  private init(
    _ kind: Kind,
    _ site: SourceSite? = nil,
    isAsk: Bool = false,
    reasons: [String] = []
  ) {
    self.kind = kind
    self.site = site
    self.isAsk = isAsk
    self.reasons = reasons
  }

  /// What happened, to what, and what to do.
  public var description: String {
    let promise = "The promise\(site.map { " made at \($0)" } ?? "")"
    return switch kind {
    case .cancelled:
      "\(promise) was cancelled, so it has no value. Who calls its cancel() decides that; catch this error where "
        + "a cancelled promise is nothing wrong."
    case .abandoned where isAsk:
      "The ask\(site.map { " at \($0)" } ?? "") was abandoned: every copy of its Reply went away "
        + "without an answer. Answer on every path of the handler, errors included, as "
        + "`reply.answer { … }` does."
    case .abandoned:
      "\(promise) was abandoned: everything that could have fulfilled or rejected it went away without doing so. "
        + "Call one of the two on every path, errors included."
    case .adoptsItself:
      "\(promise) was to follow itself, directly or through others, and would never settle. Fulfil it with "
        + "another one."
    case .noneFulfilled where reasons.isEmpty:
      "The first of no promises was asked for, which never comes. Give at least one."
    case .noneFulfilled:
      "None of \(reasons.count) promises was fulfilled: \(reasons.joined(separator: "; ")). Repair one of the "
        + "causes, which are in `reasons`, or add a promise that does not fail."
    }
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
  public static let cancelled = cancelled(nil)

  /// Everything that could have settled the promise is gone.
  public static let abandoned = abandoned(nil)

  /// A promise was to take the outcome of itself.
  public static let adoptsItself = adoptsItself(nil)

  /// None of the promises given to `Promise.any` was fulfilled, or there were none.
  public static let noneFulfilled = noneFulfilled([])

  package static func cancelled(_ site: SourceSite?) -> PromiseError {
    PromiseError(.cancelled, site)
  }

  @usableFromInline
  static func adoptsItself(_ site: SourceSite?) -> PromiseError {
    PromiseError(.adoptsItself, site)
  }

  @usableFromInline
  static func abandoned(_ site: SourceSite?) -> PromiseError { PromiseError(.abandoned, site) }

  /// Abandoned as well, told of as what it is to the one who asked.
  static func unanswered(_ ask: SourceSite) -> PromiseError {
    PromiseError(.abandoned, ask, isAsk: true)
  }

  @usableFromInline
  static func noneFulfilled(_ reasons: [any Error]) -> PromiseError {
    PromiseError(.noneFulfilled, reasons: reasons.map { "\($0)" })
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

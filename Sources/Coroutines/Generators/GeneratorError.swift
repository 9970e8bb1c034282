// SPDX-License-Identifier: Apache-2.0

/// A misuse of a generator.
public struct GeneratorError: Error, Sendable, Hashable, CustomStringConvertible {
  private enum Kind: Hashable, Sendable {
    case finished
    case yieldedElsewhere
    case alreadyRunning
  }

  private let kind: Kind

  /// What happened, to what, and what to do.
  public let description: String

  private init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// Two errors are equal when they are of the same kind, whatever generator they are about.
  public static func == (one: GeneratorError, other: GeneratorError) -> Bool {
    one.kind == other.kind
  }

  /// Feeds the kind to the hasher.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
  }

  /// A yield after the generator's body had ended.
  public static let finished = finished(nil)

  /// A yield by code that the generator's body does not run.
  public static let yieldedElsewhere = yieldedElsewhere(nil)

  /// A call of a two-way generator whose body runs, or is parked.
  public static let alreadyRunning = alreadyRunning(nil)

  static func finished(_ site: SourceSite?) -> GeneratorError {
    GeneratorError(
      .finished,
      "A value was yielded to \(generator(site)), whose body has ended. Do not keep the yield closure for "
        + "later: it works while the body runs."
    )
  }

  static func yieldedElsewhere(_ site: SourceSite?) -> GeneratorError {
    GeneratorError(
      .yieldedElsewhere,
      "A value was yielded to \(generator(site)) by code that its body does not run: another coroutine, or the "
        + "generator's user. Yield from the body and what it calls; use a Channel between coroutines."
    )
  }

  static func alreadyRunning(_ site: SourceSite?) -> GeneratorError {
    GeneratorError(
      .alreadyRunning,
      "\(generator(site, "The", "A")) was asked by its own body, by something that its body calls, or by another "
        + "coroutine while its body runs. A body cannot wait for itself: ask another generator, or ask later."
    )
  }

  private static func generator(
    _ site: SourceSite?,
    _ the: String = "the",
    _ a: String = "a"
  ) -> String {
    site.map { "\(the) generator made at \($0)" } ?? "\(a) generator"
  }
}

/// Lets `catch GeneratorError.finished` be written.
extension GeneratorError {
  /// Whether an error is this one.
  ///
  /// - Parameters:
  ///   - pattern: The error to look for.
  ///   - error: Any error.
  /// - Returns: True if `error` is of this type and equal to `pattern`.
  public static func ~= (pattern: GeneratorError, error: any Error) -> Bool {
    (error as? GeneratorError) == pattern
  }
}

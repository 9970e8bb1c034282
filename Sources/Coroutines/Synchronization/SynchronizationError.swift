// SPDX-License-Identifier: Apache-2.0

/// A wait for a lock that would never end, refused when it was asked for.
///
/// The set of errors is open: compare with the static members, or read `description`, which says who
/// holds the lock and what to do.
public struct SynchronizationError: Error, Sendable, Hashable, CustomStringConvertible {
  private enum Kind: Hashable, Sendable {
    case heldByCaller
    case notHeldByCaller
    case holderFinished
  }

  private let kind: Kind

  /// What happened, to what, and what to do.
  public let description: String

  /// Two errors are equal when they are of the same kind, whatever operation and holder they name.
  public static func == (one: SynchronizationError, other: SynchronizationError) -> Bool {
    one.kind == other.kind
  }

  /// Feeds the kind to the hasher.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
  }

  /// The caller holds the lock already and would wait for itself.
  public static let heldByCaller = heldByCaller("This call", "the caller")

  /// The caller does not hold the mutex that it has to hold.
  public static let notHeldByCaller = notHeldByCaller("This call", "the caller", "nobody")

  /// The coroutine that locked the mutex has ended without unlocking it.
  public static let holderFinished = holderFinished("This call", "The coroutine that locked it")

  static func heldByCaller(_ operation: StaticString, _ caller: String) -> SynchronizationError {
    SynchronizationError(
      kind: .heldByCaller,
      description:
        "\(operation) was called by \(caller), which holds the lock already and would wait for itself "
        + "for ever. Call it outside, or give the code inside a variant that expects the lock."
    )
  }

  static func notHeldByCaller(
    _ operation: StaticString,
    _ caller: String,
    _ holder: String
  ) -> SynchronizationError {
    SynchronizationError(
      kind: .notHeldByCaller,
      description:
        "\(operation) was called by \(caller), but the mutex is held by \(holder). Call it inside "
        + "`withLock { }` of the condition's own mutex."
    )
  }

  static func holderFinished(
    _ operation: StaticString,
    _ holder: String
  ) -> SynchronizationError {
    SynchronizationError(
      kind: .holderFinished,
      description:
        "\(operation) would wait for ever: \(holder) ended without unlocking the mutex. Unlock on every "
        + "path, errors included, as `withLock { }` does."
    )
  }
}

/// Lets `catch SynchronizationError.heldByCaller` be written.
extension SynchronizationError {
  /// Whether an error is this one.
  ///
  /// - Parameters:
  ///   - pattern: The error to look for.
  ///   - error: Any error.
  /// - Returns: True if `error` is of this type and equal to `pattern`.
  public static func ~= (pattern: SynchronizationError, error: any Error) -> Bool {
    (error as? SynchronizationError) == pattern
  }
}

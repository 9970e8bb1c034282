// SPDX-License-Identifier: Apache-2.0

/// An end of a supervised child that was not asked for.
public struct ChildFailure: Sendable, CustomStringConvertible {
  /// The child's name.
  public let child: String
  /// What its body threw; `SupervisorError.childReturned` if it returned and is permanent.
  public let error: any Error
  /// Restarts made within the window so far, of all children of the supervisor.
  public let restarts: Int
  /// When, by the clock of the supervisor's scheduler.
  public let instant: CoroutineClock.Instant

  /// `"fetcher": timedOut`.
  public var description: String { "\"\(child)\": \(error)" }
}

/// Why a supervisor ended, with the child that was the reason.
public struct SupervisorError: Error, Sendable, Hashable, CustomStringConvertible {
  private enum Kind: Hashable, Sendable {
    case tooManyRestarts
    case escalated
    case childDidNotStop
    case childReturned
  }

  private let kind: Kind

  /// The name of the child.
  public let child: String
  /// What the child's body threw, if it threw something: of a child that is a supervisor, the same type.
  public let cause: (any Error)?
  /// The failures that led to this, of all the supervisor's children, oldest first.
  public let history: [ChildFailure]

  /// What happened, to which child, and what to do.
  public let description: String

  private init(
    _ kind: Kind,
    _ child: String,
    _ description: String,
    cause: (any Error)? = nil,
    history: [ChildFailure] = []
  ) {
    self.kind = kind
    self.child = child
    self.cause = cause
    self.history = history
    self.description = description
  }

  /// Two errors are equal when they are of the same kind, whatever child they are about.
  public static func == (one: SupervisorError, other: SupervisorError) -> Bool {
    one.kind == other.kind
  }

  /// Feeds the kind to the hasher.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
  }

  /// Children had to be restarted more often than the intensity allows.
  public static let tooManyRestarts = SupervisorError(.tooManyRestarts, "", "Too many restarts.")

  /// The directive for a child's error was to escalate.
  public static let escalated = SupervisorError(.escalated, "", "A child's error was escalated.")

  /// A child that was to be stopped went on for longer than its time for that.
  public static let childDidNotStop = SupervisorError(.childDidNotStop, "", "A child did not stop.")

  /// A permanent child returned.
  public static let childReturned = SupervisorError(.childReturned, "", "A child returned.")

  static func tooManyRestarts(
    _ supervisor: String,
    _ intensity: RestartIntensity,
    _ history: [ChildFailure]
  ) -> SupervisorError {
    SupervisorError(
      .tooManyRestarts,
      history.last?.child ?? "",
      "\(supervisor) gave up: more than \(intensity.restarts) restarts within \(intensity.window) would be "
        + "needed. \(tell(history))Repair the cause, allow more restarts, or wait longer between them with a "
        + "back-off.",
      cause: history.last?.error,
      history: history
    )
  }

  static func escalated(_ supervisor: String, _ history: [ChildFailure]) -> SupervisorError {
    SupervisorError(
      .escalated,
      history.last?.child ?? "",
      "\(supervisor) ended, because its directive for this failure is to escalate. \(tell(history))"
        + "Repair the cause, or let `decide` return another directive for it.",
      cause: history.last?.error,
      history: history
    )
  }

  static func childDidNotStop(
    _ supervisor: String,
    _ child: String,
    _ limit: Duration
  ) -> SupervisorError {
    SupervisorError(
      .childDidNotStop,
      child,
      "\(supervisor) cancelled its child \"\(child)\", which had not ended \(limit) later and runs on. Let its "
        + "shields be short, and its loops park or ask for cancellation; or give it more time with `shutdown`."
    )
  }

  static func childReturned(_ child: String) -> SupervisorError {
    SupervisorError(
      .childReturned,
      child,
      "The child \"\(child)\" returned, and is restarted because it is permanent. Make it transient if it may "
        + "come to an end."
    )
  }

  private static func tell(_ history: [ChildFailure]) -> String {
    history.isEmpty
      ? "" : "Failures, oldest first: \(history.map(\.description).joined(separator: "; ")). "
  }
}

/// Lets `catch SupervisorError.tooManyRestarts` be written.
extension SupervisorError {
  /// Whether an error is this one.
  ///
  /// - Parameters:
  ///   - pattern: The error to look for.
  ///   - error: Any error.
  /// - Returns: True if `error` is of this type and equal to `pattern`.
  public static func ~= (pattern: SupervisorError, error: any Error) -> Bool {
    (error as? SupervisorError) == pattern
  }
}

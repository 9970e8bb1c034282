// SPDX-License-Identifier: Apache-2.0

/// What an object does when its operations come one after the other: the yardstick of `checkLinearizability`.
///
/// An operation that has to wait has no outcome yet; it gets one when a later operation ends the wait.
///
/// ```swift
/// struct Flag: SequentialSpecification {  // a gate that opens once
///   enum Operation { case pass, open }
///   var isOpen = false
///   var waiting: [Int] = []
///
///   mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<String>] {
///     switch operation {
///     case .pass where !isOpen:
///       waiting.append(caller)
///       return []
///     case .pass: return [Completion(caller, "passed")]
///     case .open:
///       isOpen = true
///       defer { waiting = [] }
///       return [Completion(caller, "opened")] + waiting.map { Completion($0, "passed") }
///     }
///   }
/// }
/// ```
public protocol SequentialSpecification: Hashable {
  /// A call with its arguments.
  associatedtype Operation
  /// What a call returns or throws.
  associatedtype Outcome: Equatable

  /// Does an operation, whole.
  ///
  /// - Parameters:
  ///   - operation: What is called.
  ///   - caller: A number for this call, by which a later completion names it.
  /// - Returns: Every call that this ends, the operation's own included, unless it has to wait.
  mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<Outcome>]

  /// All that may happen when an operation is done, whole.
  ///
  /// For objects that know who calls (a mutex its holder), or that may choose (a `select` among ready clauses).
  /// All others leave this out: what `begin` says happens.
  ///
  /// - Parameters:
  ///   - operation: What is called.
  ///   - caller: A number for this call.
  ///   - worker: Who calls; the same number for all calls of a worker.
  /// - Returns: For each possibility the state after it, and every call that it ends; none if the operation
  ///   cannot happen here.
  func possibilities(
    of operation: Operation,
    by caller: Int,
    in worker: Int
  ) -> [(after: Self, ended: [Completion<Outcome>])]

  /// Takes a call that waits out again: it was cancelled.
  ///
  /// For objects of which others can see that somebody waits: a barrier that counts those who do, a line that is not
  /// overtaken. All others leave this out: a cancelled call is then as if it had never begun, from its beginning.
  ///
  /// - Parameter caller: The number of a call that waits.
  /// - Returns: Every call that this ends; nil if others cannot see a call that waits.
  mutating func withdraw(_ caller: Int) -> [Completion<Outcome>]?
}

extension SequentialSpecification {
  /// Says that others cannot see a call that waits.
  ///
  /// - Parameter caller: The number of the call.
  /// - Returns: Nil.
  public mutating func withdraw(_ caller: Int) -> [Completion<Outcome>]? { nil }

  /// Stops the program: for specifications that give their `possibilities`.
  ///
  /// - Parameters:
  ///   - operation: What is called.
  ///   - caller: A number for this call.
  /// - Returns: Never.
  public mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<Outcome>] {
    fatalError(
      "\(Self.self) says neither what an operation does, in `begin`, nor what it may do, in "
        + "`possibilities`."
    )
  }

  /// What `begin` says.
  ///
  /// - Parameters:
  ///   - operation: What is called.
  ///   - caller: A number for this call.
  ///   - worker: Who calls.
  /// - Returns: One possibility.
  public func possibilities(
    of operation: Operation,
    by caller: Int,
    in worker: Int
  ) -> [(after: Self, ended: [Completion<Outcome>])] {
    var after = self
    let ended = after.begin(operation, by: caller)
    return [(after, ended)]
  }
}

/// The end of a call.
public struct Completion<Outcome> {
  /// Whose.
  public let caller: Int
  /// How.
  public let outcome: Outcome

  /// An end.
  ///
  /// - Parameters:
  ///   - caller: The number of the call.
  ///   - outcome: What it returns.
  public init(_ caller: Int, _ outcome: Outcome) {
    self.caller = caller
    self.outcome = outcome
  }
}

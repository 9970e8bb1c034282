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

// SPDX-License-Identifier: Apache-2.0

/// Stops the program with a message unless `condition` holds.
///
/// For misuse by users: `precondition` and `preconditionFailure` say nothing in optimised builds, and rule 12
/// allows no silence. What only this library can get wrong stays a `precondition`.
///
/// - Parameters:
///   - condition: What must hold.
///   - message: What happened, to what, and what to do.
///   - file: The place that is named; leave out.
///   - line: The place that is named; leave out.
@inlinable @inline(__always)
package func demand(
  _ condition: Bool,
  _ message: @autoclosure () -> String,
  file: StaticString = #fileID,
  line: UInt = #line
) {
  if !condition { fatalError(message(), file: file, line: line) }
}

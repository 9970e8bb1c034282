// SPDX-License-Identifier: Apache-2.0

/// Tries something that all take part in before a moment that is so far away, each time farther, until all came in time.
///
/// On a busy machine a thread may stand still for seconds, and what is shown then is shown of those that came late.
///
/// - Parameters:
///   - margins: How far away the moments are, or how long what is awaited may take.
///   - attempt: Gets one of them; returns false if somebody came late.
/// - Returns: False if no attempt went as it should.
package func inTime(
  within margins: [Duration] = [.milliseconds(150), .seconds(1), .seconds(10), .seconds(60)],
  _ attempt: (Duration) throws -> Bool
) rethrows -> Bool {
  try margins.contains { try attempt($0) }
}

/// Whether an attempt goes as it should, out of a few: a busy machine may spoil one, and a fault spoils all.
package func succeeds(in tries: Int = 5, _ attempt: () throws -> Bool) rethrows -> Bool {
  try (0..<tries).contains { _ in try attempt() }
}

// SPDX-License-Identifier: Apache-2.0

/// Tries something that all take part in before a moment that is so far away, each time farther, until all came in time.
///
/// On a busy machine a thread may stand still for seconds, and what is shown then is shown of those that came late.
///
/// - Parameter attempt: Gets how far away the moment is; returns false if somebody came late.
/// - Returns: False if no attempt went as it should.
package func inTime(_ attempt: (Duration) throws -> Bool) rethrows -> Bool {
  let margins: [Duration] = [.milliseconds(150), .seconds(1), .seconds(10), .seconds(60)]
  return try margins.contains { try attempt($0) }
}

/// Whether an attempt goes as it should, out of a few: a busy machine may spoil one, and a fault spoils all.
package func succeeds(in tries: Int = 5, _ attempt: () throws -> Bool) rethrows -> Bool {
  try (0..<tries).contains { _ in try attempt() }
}

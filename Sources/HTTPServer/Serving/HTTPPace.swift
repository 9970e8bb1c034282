// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Whether a client keeps its bytes moving: a byte now and then is not enough.
///
/// Only time in which the server waits for the client counts.
struct HTTPPace {
  private let patience: Duration
  private let bytesPerSecond: Int
  private var waited = Duration.zero
  private var moved = 0

  init(_ limits: HTTPLimits) {
    patience = limits.standstill
    bytesPerSecond = limits.bytesPerSecond
  }

  /// Takes note of a wait that is over, and of what it brought.
  ///
  /// - Returns: False if that is too slow.
  mutating func note(_ bytes: Int, after wait: Duration) -> Bool {
    waited += wait
    moved += bytes
    if waited <= patience { return true }
    let seconds = Double(waited.components.seconds) + Double(waited.components.attoseconds) / 1e18
    return Double(moved) >= seconds * Double(bytesPerSecond)
  }
}

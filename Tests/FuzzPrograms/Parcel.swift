// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A value that is sent: an object, so that one that is kept too long, or released twice, shows.
final class Parcel: Sendable {
  let number: Int
  private let census: ParcelCensus

  init(_ number: Int, _ census: ParcelCensus) {
    self.number = number
    self.census = census
    census.count.add(1, ordering: .relaxed)
  }

  deinit { census.count.subtract(1, ordering: .relaxed) }
}

/// How many parcels there are.
final class ParcelCensus: Sendable {
  let count = Atomic(0)
}

/// What happens to a parcel, as far as the one who sends it was told.
struct ParcelRecord {
  enum Fate {
    /// The call has not returned.
    case offered
    /// The call said that it was sent.
    case sent
    /// The call failed: the value was given back, or released by a `select`.
    case refused
    /// Sent, and then dropped by a channel that does so.
    case dropped
  }

  let channel: Int
  /// When the call began.
  let offeredAt: Int
  var fate = Fate.offered
  var receipts = 0
}

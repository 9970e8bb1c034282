// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Synchronization

/// Channels that have come to keep more than the watchdog allows.
enum ChannelGrowth {
  /// One of them.
  struct Note {
    let site: SourceSite
    /// Values that it now has room for.
    let slots: Int
  }

  /// More than so many are noted; `Int.max` while nobody watches.
  static let limit = Atomic<Int>(.max)

  private static let lock = AllocatedLock()
  // SAFETY: guarded by `lock`.
  nonisolated(unsafe) private static var notes: [Note] = []

  /// A channel has grown.
  ///
  /// Called under the channel's lock, so it only leaves a note.
  static func note(_ site: SourceSite, _ slots: Int) {
    lock.withUnobservedLock { notes.append(Note(site: site, slots: slots)) }
  }

  /// Those noted since the last call.
  static func take() -> [Note] {
    lock.withUnobservedLock {
      defer { notes = [] }
      return notes
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Synchronization

/// Channels that have come to keep more than the watchdog allows.
enum ChannelGrowth {
  /// One of them.
  struct Note {
    let name: String?
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
  static func note(_ core: UnsafeMutablePointer<ChannelCore>, _ slots: Int) {
    let note = Note(
      name: (core.channel as? any RecordedChannel)?.name,
      site: core.pointee.site,
      slots: slots
    )
    lock.withUnobservedLock { notes.append(note) }
  }

  /// Those noted since the last call.
  static func take() -> [Note] {
    lock.withUnobservedLock {
      defer { notes = [] }
      return notes
    }
  }
}

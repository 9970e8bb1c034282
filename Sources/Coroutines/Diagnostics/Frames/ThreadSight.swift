// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// Where a thread is, seen from another.
struct ThreadSight {
  /// The coroutine that it runs.
  let identifier: UInt64?
  /// Its name; empty if it has none.
  private let name: String
  /// It sleeps in a system call; nil if that is not known.
  private let isBlocked: Bool?
  let addresses: [UInt]

  /// `coroutine #9 "fetch"`; nil outside any.
  var coroutine: String? {
    identifier.map { "coroutine #\($0)" + (name.isEmpty ? "" : " \"\(name)\"") }
  }

  /// `computes`.
  var whatItDoes: String {
    switch isBlocked {
    case nil: "computes, or blocks the thread"
    case false?: "computes"
    case true?: "blocks the thread in a call of the system's"
    }
  }

  /// Looks at a thread; nil if it works for somebody else, has ended, or cannot be looked at.
  ///
  /// - Parameters:
  ///   - number: The system's number of the thread.
  ///   - home: What it is expected to work for.
  init?(of number: Int32, at home: UnsafeMutablePointer<Home>) {
    let isBlocked = cck_thread_is_blocked(number)
    var sight = cck_sight_t()
    guard cck_frames_of_thread(number, 50_000_000, &sight) == 0,
      sight.home == UnsafeRawPointer(home)
    else { return nil }
    self.isBlocked = isBlocked < 0 ? nil : isBlocked == 1
    name = withUnsafeBytes(of: sight.name) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    identifier = sight.identifier == 0 ? nil : sight.identifier
    addresses = withUnsafeBytes(of: sight.frames) { bytes in
      // SAFETY: an array of addresses, of which so many have been written.
      bytes.bindMemory(to: UInt.self).prefix(Int(sight.count)).map { $0 }
    }
  }
}

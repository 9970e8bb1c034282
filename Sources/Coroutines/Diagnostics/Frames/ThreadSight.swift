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
  /// The coroutine has been cancelled, or a scope that it is in.
  let isCancelled: Bool
  let addresses: [UInt]

  /// `coroutine #9 "fetch"`; nil outside any.
  var coroutine: String? {
    identifier.map { "coroutine #\($0)" + (name.isEmpty ? "" : " \"\(name)\"") }
  }

  /// `computes`.
  var whatItDoes: String {
    let what =
      switch isBlocked {
      case nil: "computes, or blocks the thread"
      case false?: "computes"
      case true?: "blocks the thread in a call of the system's"
      }
    return isCancelled ? what + ", although it has been cancelled" : what
  }

  /// Looks at a thread; nil if it works for somebody else, has ended, or cannot be looked at.
  ///
  /// - Parameters:
  ///   - number: The system's number of the thread.
  ///   - home: What it is expected to work for.
  init?(of number: Int32, at home: UnsafeMutablePointer<Home>) {
    let isBlocked = cck_thread_is_blocked(number)
    var sight = cck_sight_t()
    guard cck_frames_of_thread(number, 500_000_000, &sight) == 0,
      sight.home == UnsafeRawPointer(home)
    else { return nil }
    self.init(sight, isBlocked: isBlocked < 0 ? nil : isBlocked == 1)
  }

  /// What the signal that `DumpSignal` waits for has interrupted, if that blocked its thread.
  static var interrupted: ThreadSight? {
    // SAFETY: a variable of C that is written once, before `cck_signal_wait` returns.
    cck_signal_interrupted().map { ThreadSight($0.pointee, isBlocked: true) }
  }

  private init(_ sight: cck_sight_t, isBlocked: Bool?) {
    self.isBlocked = isBlocked
    isCancelled = sight.is_cancelled != 0
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

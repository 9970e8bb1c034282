// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines

/// The signals of one channel that have come.
final class SignalFeed: @unchecked Sendable {
  // SAFETY: the variables are guarded by the lock; the rest are constants.

  let signals: Set<Signal>
  let channel = Channel<Signal>(capacity: .rendezvous, name: "signals")
  private let wanted: UInt64
  private let lock = AllocatedLock()
  /// A bit for each signal that has come and not been held out yet.
  private var pending: UInt64 = 0
  /// A coroutine holds them out.
  private var isServed = false
  /// That coroutine; nil while it is being launched.
  private var server: Coroutine?

  init(_ signals: Set<Signal>) {
    self.signals = signals
    wanted = signals.reduce(0) { $0 | Self.bit($1) }
  }

  private static func bit(_ signal: Signal) -> UInt64 {
    (1...64).contains(signal.rawValue) ? 1 << UInt64(signal.rawValue - 1) : 0
  }

  /// Signals have come; does not wait.
  func deliver(_ come: UInt64) {
    let needsServer = lock.withLock {
      pending |= come & wanted
      if pending == 0 { return false }
      // One that has ended, and has not said so, had no memory to begin with.
      if isServed, server?.isFinished != true { return false }
      isServed = true
      server = nil
      return true
    }
    guard needsServer else { return }
    // Not a child of anybody: this is no coroutine.
    let launched = launch(on: .shared, name: "signals") { [self] in serve() }
    lock.withLock { if isServed { server = launched } }
  }

  private func serve() {
    while let signal = takeNext() {
      // Closed: nobody will receive any more.
      guard (try? channel.send(signal)) != nil else { return }
    }
  }

  private func takeNext() -> Signal? {
    lock.withLock {
      if pending == 0 {
        isServed = false
        return nil
      }
      let number = pending.trailingZeroBitCount
      pending &= pending - 1
      return Signal(rawValue: Int32(number + 1))
    }
  }
}

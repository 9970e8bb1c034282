// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import CoroutineKernel
import Coroutines

/// Hands the process's signals to all channels that are open for them.
final class SignalHub: @unchecked Sendable {
  // SAFETY: all mutable state is guarded by the lock; so are the C functions that take one caller at a time, but for
  // `cio_signals_take`, which only the notice calls, one after another.

  static let shared = SignalHub()

  private let lock = AllocatedLock()
  private var feeds: [SignalFeed] = []
  /// Somebody looks at the pipe.
  private var isWatching = false

  /// Catches a feed's signals.
  func add(_ feed: SignalFeed) throws {
    let start = lock.withLock { () -> Result<Int32?, IOError> in
      let descriptor = cio_signals_start()
      if descriptor < 0 { return .failure(failure(descriptor, nil)) }
      var caught: [Signal] = []
      for signal in feed.signals where !feeds.contains(where: { $0.signals.contains(signal) }) {
        let result = cio_signal_watch(signal.rawValue)
        if result < 0 {
          for signal in caught { cio_signal_unwatch(signal.rawValue) }
          return .failure(failure(result, signal))
        }
        caught.append(signal)
      }
      feeds.append(feed)
      if isWatching { return .success(nil) }
      isWatching = true
      return .success(Int32(descriptor))
    }
    guard let descriptor = try start.get() else { return }
    do throws(DescriptorFailure) {
      try watch(descriptor)
    } catch {
      lock.withLock { isWatching = false }
      remove(feed)
      throw IOError(code: error.code, operation: "catching signals")
    }
  }

  /// Catches no more what nobody else wants.
  func remove(_ feed: SignalFeed) {
    lock.withLock {
      guard let index = feeds.firstIndex(where: { $0 === feed }) else { return }
      feeds.remove(at: index)
      for signal in feed.signals where !feeds.contains(where: { $0.signals.contains(signal) }) {
        cio_signal_unwatch(signal.rawValue)
      }
    }
  }

  private func failure(_ result: Int, _ signal: Signal?) -> IOError {
    IOError(
      code: Int32(-result),
      operation: "catching",
      subject: signal.map { "\($0)" } ?? "signals"
    )
  }

  /// Has the reactor's thread, which never waits for a coroutine, hand them on.
  private func watch(_ descriptor: Int32) throws(DescriptorFailure) {
    try DescriptorNotice.whenReadable(descriptor) { [self] in
      let come = cio_signals_take()
      let open = lock.withLock { feeds }
      for feed in open { feed.deliver(come) }
      // The pipe is open for good, and has been watched before.
      try? watch(descriptor)
    }
  }
}

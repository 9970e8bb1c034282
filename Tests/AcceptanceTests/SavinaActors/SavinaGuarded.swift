// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A value under a lock; not a `Mutex`, whose futex ThreadSanitizer does not see on Linux.
final class SavinaGuarded<Value>: @unchecked Sendable {
  // SAFETY: `value` is only reached under the lock.
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Synchronization

/// A value under a lock.
///
/// The standard library's `Mutex` would do, but ThreadSanitizer does not see it
/// on Linux.
private final class Guarded<Value>: @unchecked Sendable {
  // SAFETY: `value` is only reached under the lock.
  private let lock = AllocatedLock()
  private var value: Value

  init(_ value: Value) {
    self.value = value
  }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    lock.withLock { body(&value) }
  }
}

/// What happened, in the order in which it did, from any thread.
package final class Log: Sendable {
  private let lines = Guarded<[String]>([])

  package init() {}

  /// Everything noted so far.
  package var entries: [String] { lines.withLock { $0 } }

  /// Notes something.
  package func callAsFunction(_ line: String) {
    lines.withLock { $0.append(line) }
  }
}

/// A number that several threads count up.
package final class Counter: Sendable {
  private let number = Atomic<Int>(0)

  package init() {}

  /// The count now.
  package var value: Int { number.load(ordering: .sequentiallyConsistent) }

  /// Counts up; returns the new count.
  @discardableResult
  package func add(_ amount: Int = 1) -> Int {
    number.wrappingAdd(amount, ordering: .sequentiallyConsistent).newValue
  }
}

/// A value that is handed from one thread to another.
package final class Cell<Value>: @unchecked Sendable {
  // SAFETY: guarded by the lock; what is handed over is not used by the giver any more.
  private let content: Guarded<Value?>

  package init(_ value: Value? = nil) {
    content = Guarded(value)
  }

  /// The value, if one has been put in.
  package var value: Value? {
    get { content.withLock { $0 } }
    set {
      // What was there is freed after the lock: its end may run anything.
      let old = content.withLock { content in
        defer { content = newValue }
        return content
      }
      _ = old
    }
  }
}

/// Things that several threads put together.
package final class Bag<Element: Sendable>: Sendable {
  private let elements = Guarded<[Element]>([])

  package init() {}

  /// Everything put in so far.
  package var contents: [Element] { elements.withLock { $0 } }

  /// Puts something in.
  package func add(_ element: Element) {
    elements.withLock { $0.append(element) }
  }
}

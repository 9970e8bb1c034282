// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What happened, in the order in which it did, from any thread.
package final class Log: Sendable {
  private let lines = Mutex<[String]>([])

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
  // SAFETY: guarded by the mutex; what is handed over is not used by the giver any more.
  private let content: Mutex<[Value]>

  package init(_ value: sending Value? = nil) {
    content = Mutex(value.map { [$0] } ?? [])
  }

  /// The value, if one has been put in.
  package var value: Value? {
    get { content.withLock { (content: inout [Value]) in Holder(content.first) }.value }
    set {
      let new = Holder(newValue)
      content.withLock { $0 = new.value.map { [$0] } ?? [] }
    }
  }

  private struct Holder: @unchecked Sendable {
    // SAFETY: as above.
    let value: Value?
    init(_ value: Value?) { self.value = value }
  }
}

/// Things that several threads put together.
package final class Bag<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  package init() {}

  /// Everything put in so far.
  package var contents: [Element] { elements.withLock { $0 } }

  /// Puts something in.
  package func add(_ element: Element) {
    elements.withLock { $0.append(element) }
  }
}

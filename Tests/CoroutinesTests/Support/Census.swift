// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Counts the objects of one test that are alive, to show that each is released, and once.
final class Census: Sendable {
  private let count = Atomic<Int>(0)

  /// Objects that are alive now.
  var alive: Int { count.load(ordering: .sequentiallyConsistent) }

  /// Whether nothing is alive, as soon as other threads have let go of what they ran.
  ///
  /// A coroutine that ends elsewhere wakes its joiners first, and its scheduler's reference to it ends right after: on a
  /// busy machine its thread may lose its processor in between, so this waits for minutes, if it must.
  func becomesEmpty() -> Bool {
    let end = Date() + 300
    while alive != 0, Date() < end { Thread.sleep(forTimeInterval: 0.001) }
    return alive == 0
  }

  func note(_ change: Int) {
    let now = count.add(change, ordering: .sequentiallyConsistent).newValue
    precondition(now >= 0, "an object was released twice")
  }
}

/// An object that a census counts.
final class Counted: Sendable {
  let number: Int
  private let census: Census

  init(_ number: Int, _ census: Census) {
    self.number = number
    self.census = census
    census.note(1)
  }

  deinit { census.note(-1) }
}

/// A number that several threads add to.
final class Tally: Sendable {
  private let number = Atomic<Int>(0)

  var value: Int { number.load(ordering: .sequentiallyConsistent) }

  @discardableResult
  func add(_ amount: Int = 1) -> Int {
    number.add(amount, ordering: .sequentiallyConsistent).newValue
  }
}

/// What happened, in order, from any thread.
final class SharedLog<Entry: Sendable>: @unchecked Sendable {
  // SAFETY: `list` is guarded by `lock`; not a `Mutex`, whose futex ThreadSanitizer does not see.
  private let lock = NSLock()
  private var list: [Entry] = []

  var entries: [Entry] { lock.withLock { list } }

  func add(_ entry: Entry) { lock.withLock { list.append(entry) } }
}

/// What happened, in order, on one scheduler.
final class Steps<Entry> {
  var entries: [Entry] = []

  func add(_ entry: Entry) { entries.append(entry) }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Where an answer waits until the test lets it go on.
package final class HTTPTestGate: @unchecked Sendable {
  // SAFETY: the counts are only touched under the condition's lock.
  private let condition = NSCondition()
  private var passes = 0
  private var isOpen = false
  private var arrivals = 0

  /// A closed gate.
  package init() {}

  /// Lets everybody through, now and later.
  package func open() {
    condition.lock()
    isOpen = true
    condition.broadcast()
    condition.unlock()
  }

  /// Lets so many through, now or when they come.
  package func admit(_ count: Int = 1) {
    condition.lock()
    passes += count
    condition.broadcast()
    condition.unlock()
  }

  /// Blocks the calling thread until so many have come to the gate since it was made; at most five
  /// minutes.
  ///
  /// - Parameter count: How many.
  /// - Returns: False if they did not come.
  package func waitForArrivals(_ count: Int) -> Bool {
    let deadline = Date(timeIntervalSinceNow: 300)
    condition.lock()
    defer { condition.unlock() }
    while arrivals < count {
      if !condition.wait(until: deadline) { return arrivals >= count }
    }
    return true
  }

  /// Waits at the gate, and looks now and then whether it is still worth while.
  ///
  /// - Throws: `HTTPTestClientGone`.
  func pass(unless isGone: () -> Bool) throws {
    condition.lock()
    defer { condition.unlock() }
    arrivals += 1
    condition.broadcast()
    while !isOpen, passes == 0 {
      if isGone() { throw HTTPTestClientGone() }
      _ = condition.wait(until: Date(timeIntervalSinceNow: 0.005))
    }
    if !isOpen { passes -= 1 }
  }
}

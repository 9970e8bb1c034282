// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How many threads run loops and do not sleep, in the whole process; those that look around for work count, too.
///
/// Where they are more than processors, who looks around is in the way of somebody that has work. A hint: a thread that waits
/// in a call of its own counts as awake, and a loop inside a loop twice.
package enum AwakeLoops {
  private static let number = Atomic<Int>(0)

  package static var count: Int { number.load(ordering: .relaxed) }

  /// The calling thread begins to run a loop, or has woken up.
  package static func enter() { number.wrappingAdd(1, ordering: .relaxed) }

  /// It ends, or is about to sleep.
  package static func leave() { number.wrappingSubtract(1, ordering: .relaxed) }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting

#if COROUTINES_CHECKED

/// Runs a body in all orders, with and without reduction.
struct Comparison {
  /// What the body returned in some order.
  let outcomes: Set<String>
  let reducedOutcomes: Set<String>
  let plain: Exploration
  let reduced: Exploration

  init(runs: Int = 60_000, _ body: @escaping () throws -> String) throws {
    func search(_ sharing: ExplorationSharing) throws -> (Set<String>, Exploration) {
      var outcomes: Set<String> = []
      let report = try explore(runs: runs, sharing: sharing) { outcomes.insert(try body()) }
      return (outcomes, report)
    }
    (outcomes, plain) = try search(.anything)
    (reducedOutcomes, reduced) = try search(.libraryObjectsOnly)
  }
}

/// A place that one coroutine writes to, and that is read when it has ended.
final class Slot {
  var text = ""
}

/// What an operation came to, as text.
func told(_ body: () throws -> String) -> String {
  do { return try body() } catch { return "\(type(of: error))" }
}

#endif

// SPDX-License-Identifier: Apache-2.0

/// A point of a run at which something was chosen, and what came of it.
struct ExploredStep {
  /// What was chosen.
  enum Kind {
    /// A coroutine, which ran up to where it parked or ended.
    case coroutine
    /// The same, but no other could have been chosen: it goes with the step before it.
    case continuation
    /// A ready clause of the select of the coroutine that runs.
    case clause
  }

  let kind: Kind
  /// Numbers of those that could have been chosen.
  let candidates: [Int]
  /// The one that was.
  let chosen: Int
  /// The step that made the coroutine ready, if one of this period did.
  let readiedBy: Int?
  /// How often time had passed.
  let period: Int
  /// What it touched.
  var footprint: Set<UInt> = []
  /// It may have touched anything.
  var touchesAll = false
}

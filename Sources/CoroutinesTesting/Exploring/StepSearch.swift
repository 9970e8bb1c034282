// SPDX-License-Identifier: Apache-2.0

/// A depth-first search through the orders of coroutines on one loop, without those that differ only in the
/// order of steps that have nothing in common.
///
/// Dynamic partial-order reduction, as in `RaceSearch`, with what coroutines add to it:
///
/// - A coroutine becomes ready through another's step. So whoever made it ready comes before it in any order,
///   and is not to be overtaken by it, nor is what comes before that one.
/// - Time passes only when all wait. So what was before and what is after cannot change places.
/// - Which clause a select takes is a choice of its own: all of them are tried.
/// - A step may touch everything: it depends on every other.
///
/// An address may be used by one object after another. What that adds are dependences, never fewer: of two
/// steps that touch one object, all between them that touch its address touch that object, too.
struct StepSearch {
  private var tree = SearchTree(delays: nil)

  /// The choices of the next run, among how many each; nil when all have been made.
  var next: Explorer.Decisions? { tree.next }

  /// Takes note of the run that `next` was for.
  mutating func add(_ steps: [ExploredStep]) {
    tree.extend(by: steps.lazy.map { ($0.candidates, $0.chosen) })
    for (index, step) in steps.enumerated() where step.kind == .clause { tree.wantAll(at: index) }
    let order = StepOrder(steps)
    for later in order.blocks.indices {
      for earlier in order.overtakable(by: later) { want(later, before: earlier, order) }
    }
    tree.advance()
  }

  /// Has the later one tried where the earlier one was chosen; or, as it was not ready there, one that it
  /// needs to become so.
  private mutating func want(_ later: Int, before earlier: Int, _ order: StepOrder) {
    let point = order.blocks[earlier].start
    if tree.want(order.blocks[later].coroutine, at: point) { return }
    for between in (earlier + 1)..<later where order.comes(between, before: later) {
      if tree.want(order.blocks[between].coroutine, at: point) { return }
    }
    tree.wantAll(at: point)
  }
}

/// Which steps of a run come before which in any order that comes to the same.
struct StepOrder {
  /// A step and those that it forces: nobody else can run in between.
  struct Block {
    /// The place of its first step.
    let start: Int
    /// Who was chosen.
    let coroutine: Int
    /// All who ran.
    var coroutines: Set<Int>
    let period: Int
    var footprint: Set<UInt>
    var touchesAll: Bool
    /// For each coroutine the last block of its own that comes before this one in any order.
    var before: [Int: Int]
  }

  private(set) var blocks: [Block] = []

  init(_ steps: [ExploredStep]) {
    // For each coroutine: what comes before its next step.
    var known: [Int: [Int: Int]] = [:]
    // For each step its block.
    var places: [Int] = []
    func merge(_ other: [Int: Int]?, into clock: inout [Int: Int]) {
      clock.merge(other ?? [:]) { max($0, $1) }
    }
    for (index, step) in steps.enumerated() {
      if step.kind == .coroutine {
        var before = known[step.chosen] ?? [:]
        if let waker = step.readiedBy {
          let block = blocks[places[waker]]
          merge(block.before, into: &before)
          for one in block.coroutines { before[one] = max(before[one] ?? 0, places[waker]) }
        }
        blocks.append(
          Block(
            start: index,
            coroutine: step.chosen,
            coroutines: [],
            period: step.period,
            footprint: [],
            touchesAll: false,
            before: before
          )
        )
      }
      let last = blocks.count - 1
      places.append(last)
      if step.kind == .clause { continue }
      blocks[last].coroutines.insert(step.chosen)
      blocks[last].footprint.formUnion(step.footprint)
      blocks[last].touchesAll = blocks[last].touchesAll || step.touchesAll
      for one in blocks[last].coroutines {
        var clock = blocks[last].before
        merge(known[one], into: &clock)
        clock[one] = last
        clock[blocks[last].coroutine] = last
        known[one] = clock
      }
    }
  }

  /// True if the earlier block comes before the later one in any order: by its coroutine, or through who made
  /// that ready.
  func comes(_ earlier: Int, before later: Int) -> Bool {
    (blocks[later].before[blocks[earlier].coroutine] ?? -1) >= earlier
      || blocks[earlier].period != blocks[later].period
  }

  /// The blocks before which this one could have run, and might have come to something else: for each address
  /// the last one that touched it, unless that one comes first in any order.
  func overtakable(by later: Int) -> Set<Int> {
    var found: Set<Int> = []
    let block = blocks[later]
    if block.touchesAll {
      for earlier in (0..<later).reversed() {
        guard comes(earlier, before: later) else { return [earlier] }
        // All that was before such a one, or in an earlier period, comes before it.
        if blocks[earlier].touchesAll || blocks[earlier].period != block.period { break }
      }
      return []
    }
    for address in block.footprint {
      let last = (0..<later).last {
        blocks[$0].touchesAll || blocks[$0].footprint.contains(address)
      }
      if let last, !comes(last, before: later) { found.insert(last) }
    }
    return found
  }
}

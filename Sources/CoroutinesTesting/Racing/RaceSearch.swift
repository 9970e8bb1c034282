// SPDX-License-Identifier: Apache-2.0

/// A depth-first search through the orders of steps of threads, without those that differ only in the order of
/// steps that have nothing in common.
///
/// Dynamic partial-order reduction: Flanagan, Godefroid, *Dynamic Partial-Order Reduction for Model Checking
/// Software*, POPL 2005. After each run, for each step the last one before it of another thread that touched
/// the same memory is looked up: before that one, the later step's thread is to be tried. (All accesses to one
/// address depend on one another, so that one is also the last that the later step could overtake.)
struct RaceSearch {
  private var tree: SearchTree

  /// The choices of the next run, among how many each; nil when all have been made.
  var next: Explorer.Decisions? { tree.next }

  /// - Parameter delays: The sum, over all choices of a run, of those that were passed over.
  init(delays: Int?) { tree = SearchTree(delays: delays) }

  /// Takes note of the run that `next` was for.
  mutating func add(_ steps: [RaceStep]) {
    tree.extend(by: steps.lazy.map { ($0.candidates, $0.thread) })
    wantOvertaking(steps)
    tree.advance()
  }

  private mutating func wantOvertaking(_ steps: [RaceStep]) {
    // For each address, where each thread touched it last.
    var last: [UInt: [Int: Int]] = [:]
    for (index, step) in steps.enumerated() {
      for address in step.footprint {
        let others = last[address, default: [:]].filter { $0.key != step.thread }
        if let overtaken = others.values.max(), !tree.want(step.thread, at: overtaken) {
          tree.wantAll(at: overtaken)
        }
        last[address, default: [:]][step.thread] = index
      }
    }
  }
}

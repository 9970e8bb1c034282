// SPDX-License-Identifier: Apache-2.0

/// A depth-first search through the orders of steps of threads, without those that differ only in the order of
/// steps that have nothing in common.
///
/// Dynamic partial-order reduction: Flanagan, Godefroid, *Dynamic Partial-Order Reduction for Model Checking
/// Software*, POPL 2005. After each run, for each step the last one before it of another thread that touched
/// the same memory is looked up: before that one, the later step's thread is to be tried. (All accesses to one
/// address depend on one another, so that one is also the last that the later step could overtake.)
struct RaceSearch {
  /// A point of the current run at which a thread was chosen.
  private struct Node {
    let candidates: [Int]
    var chosen: Int
    /// To be tried here.
    var wanted: Set<Int> = []
    /// Tried here.
    var done: Set<Int>

    /// How far the chosen one was down the line.
    var delay: Int { candidates.firstIndex(of: chosen) ?? 0 }
  }

  private let delays: Int
  private var nodes: [Node] = []

  /// The choices of the next run, among how many each; nil when all have been made.
  private(set) var next: Explorer.Decisions? = []

  /// - Parameter delays: The sum, over all choices of a run, of those that were passed over.
  init(delays: Int?) { self.delays = delays ?? .max }

  /// Takes note of the run that `next` was for.
  mutating func add(_ steps: [RaceStep]) {
    for step in steps.dropFirst(nodes.count) {
      nodes.append(Node(candidates: step.candidates, chosen: step.thread, done: [step.thread]))
    }
    wantOvertaking(steps)
    next = nil
    while let node = nodes.last {
      let spent = nodes.dropLast().reduce(0) { $0 + $1.delay }
      let choice = node.candidates.first {
        node.wanted.contains($0) && !node.done.contains($0)
          && spent + (node.candidates.firstIndex(of: $0) ?? 0) <= delays
      }
      if let choice {
        nodes[nodes.count - 1].chosen = choice
        nodes[nodes.count - 1].done.insert(choice)
        next = nodes.filter { $0.candidates.count > 1 }.map { ($0.delay, $0.candidates.count) }
        return
      }
      nodes.removeLast()
    }
  }

  private mutating func wantOvertaking(_ steps: [RaceStep]) {
    // For each address, where each thread touched it last.
    var last: [UInt: [Int: Int]] = [:]
    for (index, step) in steps.enumerated() {
      for address in step.footprint {
        let others = last[address, default: [:]].filter { $0.key != step.thread }
        if let overtaken = others.values.max() {
          if nodes[overtaken].candidates.contains(step.thread) {
            nodes[overtaken].wanted.insert(step.thread)
          } else {
            nodes[overtaken].wanted.formUnion(nodes[overtaken].candidates)
          }
        }
        last[address, default: [:]][step.thread] = index
      }
    }
  }
}

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
  /// What the last run did, to which `next` is the same up to its last known point.
  private var last: [RaceStep] = []

  /// The choices of the next run, among how many each; nil when all have been made.
  var next: Explorer.Decisions? { tree.next }

  /// - Parameter delays: The sum, over all choices of a run, of those that were passed over.
  init(delays: Int?) { tree = SearchTree(delays: delays) }

  /// Takes note of the run that `next` was for.
  mutating func add(_ steps: [RaceStep]) {
    tree.extend(by: steps.lazy.map { ($0.candidates, $0.thread) })
    wantOvertaking(steps)
    tree.advance()
    last = steps
  }

  /// Compares the beginning of the run that `next` is for with the last run's, which must be the same.
  ///
  /// - Returns: What is different, if anything is.
  func difference(of steps: [RaceStep]) -> ExplorationError? {
    let known = min(tree.known, last.count)
    for index in 0..<known {
      // At the last known point it is another thread's turn.
      let isLast = index == known - 1
      let before = last[index]
      guard index < steps.count else {
        return error(at: index, before, "the threads had come to their ends before it")
      }
      let now = steps[index]
      if now.candidates == before.candidates, isLast || now.thread == before.thread { continue }
      return error(at: index, before, now.summary, after: steps[..<index])
    }
    return nil
  }

  /// `now` says what was found at a point, in place of `before`.
  private func error(
    at index: Int,
    _ before: RaceStep,
    _ now: String,
    after steps: ArraySlice<RaceStep> = []
  ) -> ExplorationError {
    // What a step did may have been different without anybody's having been ready who was not, or the reverse, until now.
    let first = zip(steps, last).first { $0.text != $1.text || $0.thread != $1.thread }
    let hint = first.map {
      " The first that did something else: \($0.summary); before, \($1.summary)."
    }
    return ExplorationError(
      difference: "at step \(index + 1), \(now); before, \(before.summary).\(hint ?? "")"
    )
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

extension RaceStep {
  /// Whose turn it was, and why.
  fileprivate var summary: String {
    let ready = candidates.map { "\($0 + 1)" }.joined(separator: ", ")
    return "thread \(thread + 1) (of those that could go on: \(ready)) \(text)"
  }
}

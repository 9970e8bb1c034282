// SPDX-License-Identifier: Apache-2.0

/// The branch of a depth-first search through choices that its last run took, with what is still to be tried
/// on it.
struct SearchTree {
  /// A point of the run at which somebody was chosen.
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

  /// How many points of the run that `next` is for have been there before: all but what follows the last of them.
  var known: Int { nodes.count }

  /// Goes along the run that `next` was for.
  ///
  /// - Parameter points: Of the whole run. Its beginning is as it was chosen.
  mutating func extend(by points: some Sequence<(candidates: [Int], chosen: Int)>) {
    for (candidates, chosen) in points.dropFirst(nodes.count) {
      nodes.append(Node(candidates: candidates, chosen: chosen, done: [chosen]))
    }
  }

  /// Has somebody tried at a point.
  ///
  /// - Returns: False if that one cannot be chosen there.
  mutating func want(_ candidate: Int, at point: Int) -> Bool {
    guard nodes[point].candidates.contains(candidate) else { return false }
    nodes[point].wanted.insert(candidate)
    return true
  }

  /// Has everybody tried who can be chosen at a point.
  mutating func wantAll(at point: Int) {
    nodes[point].wanted.formUnion(nodes[point].candidates)
  }

  /// Finds the deepest point where something is left to be tried, within the delays: `next`.
  mutating func advance() {
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
}

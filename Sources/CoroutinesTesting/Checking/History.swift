// SPDX-License-Identifier: Apache-2.0

/// What was called and what it returned, in the order of both.
struct History<Specification: SequentialSpecification> {
  /// One call.
  struct Call {
    let worker: Int
    let operation: Specification.Operation
    /// Position of the call among all calls and returns.
    let begin: Int
    /// Position of the return; nil if it waits for ever.
    var end: Int?
    var outcome: Specification.Outcome?
    /// It threw `CancellationError`: it must be as if it had never begun (rule 3).
    var isCancelled = false
  }

  private(set) var calls: [Call] = []
  private var clock = 0

  /// Notes a call.
  ///
  /// - Returns: Its number.
  mutating func begin(_ operation: Specification.Operation, by worker: Int) -> Int {
    clock += 1
    calls.append(Call(worker: worker, operation: operation, begin: clock))
    return calls.count - 1
  }

  /// Notes a return; nil for a cancelled call.
  mutating func end(_ call: Int, _ outcome: Specification.Outcome?) {
    clock += 1
    calls[call].end = clock
    calls[call].outcome = outcome
    calls[call].isCancelled = outcome == nil
  }

  /// Whether there is an order of the calls, each at some moment between its beginning and its end, in which the
  /// specification does the same.
  ///
  /// Wing and Gong's search (*Testing and Verifying Concurrent Objects*, 1993), which remembers where it has been
  /// (Lowe, *Testing for Linearizability*, 2017).
  ///
  /// - Parameter specification: In its initial state.
  /// - Returns: True if there is one.
  func isLinearizable(_ specification: Specification) -> Bool {
    var search = Search(calls: calls.filter { !$0.isCancelled })
    return search.go(specification, begun: 0, ended: 0)
  }

  private struct Search {
    let calls: [Call]
    private var seen: Set<Place> = []

    private struct Place: Hashable {
      let specification: Specification
      let begun: UInt64
      let ended: UInt64
    }

    init(calls: [Call]) {
      precondition(calls.count <= 64, "A history of more than 64 calls; check shorter scenarios.")
      self.calls = calls
    }

    mutating func go(_ specification: Specification, begun: UInt64, ended: UInt64) -> Bool {
      if begun.nonzeroBitCount == calls.count {
        // Those that wait in the specification wait in fact, and the other way round.
        return calls.indices.allSatisfy { (ended >> $0) & 1 == (calls[$0].end == nil ? 0 : 1) }
      }
      guard seen.insert(Place(specification: specification, begun: begun, ended: ended)).inserted
      else { return false }
      for next in calls.indices where (begun >> next) & 1 == 0 {
        // What returned before this was called must have ended before it.
        let isTooEarly = calls.indices.contains { other in
          guard let end = calls[other].end else { return false }
          return end < calls[next].begin && (ended >> other) & 1 == 0
        }
        if isTooEarly { continue }
        var after = specification
        var nowEnded = ended
        var agrees = true
        for completion in after.begin(calls[next].operation, by: next) {
          nowEnded |= 1 << completion.caller
          agrees = agrees && calls[completion.caller].outcome == completion.outcome
        }
        if agrees, go(after, begun: begun | 1 << next, ended: nowEnded) { return true }
      }
      return false
    }
  }

  /// The calls and returns, one a line.
  var text: String {
    var lines: [(Int, String)] = []
    for call in calls {
      lines.append((call.begin, "worker \(call.worker + 1) calls \(call.operation)"))
      guard let end = call.end else { continue }
      let outcome = call.outcome.map { "returns \($0)" } ?? "is cancelled"
      lines.append((end, "worker \(call.worker + 1) \(outcome) from \(call.operation)"))
    }
    lines.sort { $0.0 < $1.0 }
    let waiting = calls.filter { $0.end == nil }
      .map { "worker \($0.worker + 1) waits in \($0.operation)" }
    return (lines.map(\.1) + waiting).map { "  " + $0 }.joined(separator: "\n")
  }
}

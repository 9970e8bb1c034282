// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

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
    var search = Search(calls: calls)
    return search.go(specification, begun: 0, ended: 0)
  }

  private struct Search {
    let calls: [Call]
    /// Calls that must have begun at the end: those that were not cancelled.
    private let required: UInt64
    private var seen: Set<Place> = []

    private struct Place: Hashable {
      let specification: Specification
      let begun: UInt64
      let ended: UInt64
    }

    init(calls: [Call]) {
      demand(
        calls.count <= 64,
        "A history of \(calls.count) calls, and no more than 64 can be checked; take fewer workers or operations."
      )
      self.calls = calls
      required = calls.indices.reduce(0) { $0 | (calls[$1].isCancelled ? 0 : 1 << UInt64($1)) }
    }

    /// A cancelled call has either never begun, or has begun to wait and been withdrawn, within its time.
    mutating func go(_ specification: Specification, begun: UInt64, ended: UInt64) -> Bool {
      // Those that wait in the specification wait in fact, and the other way round.
      if begun & required == required, agree(begun, ended) { return true }
      guard
        seen.insert(Place(specification: specification, begun: begun, ended: ended)).inserted
      else { return false }
      for next in calls.indices {
        let bit: UInt64 = 1 << next
        if begun & bit == 0 {
          if mayBegin(next, begun, ended), begin(next, specification, begun, ended) { return true }
        } else if calls[next].isCancelled, ended & bit == 0 {
          var after = specification
          guard let completions = after.withdraw(next) else { continue }
          if let nowEnded = match(completions, ended | bit),
            go(after, begun: begun, ended: nowEnded)
          {
            return true
          }
        }
      }
      return false
    }

    private func agree(_ begun: UInt64, _ ended: UInt64) -> Bool {
      calls.indices.allSatisfy { index in
        let hasBegun = (begun >> index) & 1 == 1
        let mustHaveEnded = calls[index].isCancelled ? hasBegun : calls[index].end != nil
        return ((ended >> index) & 1 == 1) == mustHaveEnded
      }
    }

    /// What returned before this was called has ended, and nothing has begun that was called after it returned.
    private func mayBegin(_ next: Int, _ begun: UInt64, _ ended: UInt64) -> Bool {
      !calls.indices.contains { other in
        if let end = calls[other].end, end < calls[next].begin, (ended >> other) & 1 == 0 {
          return !calls[other].isCancelled || (begun >> other) & 1 == 1
        }
        if let end = calls[next].end, end < calls[other].begin { return (begun >> other) & 1 == 1 }
        return false
      }
    }

    private mutating func begin(
      _ next: Int,
      _ specification: Specification,
      _ begun: UInt64,
      _ ended: UInt64
    ) -> Bool {
      let call = calls[next]
      for (after, completions) in specification.possibilities(
        of: call.operation,
        by: next,
        in: call.worker
      ) {
        if call.isCancelled {
          // Not worth a try if nobody can see it wait.
          var withdrawn = after
          if withdrawn.withdraw(next) == nil { continue }
        }
        if let nowEnded = match(completions, ended),
          go(after, begun: begun | 1 << next, ended: nowEnded)
        {
          return true
        }
      }
      return false
    }

    /// The calls that have ended after these, if that is how they ended in fact.
    private func match(_ completions: [Completion<Specification.Outcome>], _ ended: UInt64)
      -> UInt64?
    {
      var nowEnded = ended
      for completion in completions {
        guard calls[completion.caller].outcome == completion.outcome else { return nil }
        nowEnded |= 1 << completion.caller
      }
      return nowEnded
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

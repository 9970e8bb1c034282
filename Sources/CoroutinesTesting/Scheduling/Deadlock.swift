// SPDX-License-Identifier: Apache-2.0

public import Coroutines

/// Coroutines wait for each other, or for nobody, and nothing can wake them.
public struct Deadlock: Error, CustomStringConvertible {
  /// One of the coroutines.
  public struct Waiting: Sendable {
    /// The coroutine: `coroutine #7 "fetch" (suspended)`.
    public let coroutine: String
    /// Where it was launched.
    public let creationSite: SourceSite
    /// The call that it waits in: `Channel.receive()`.
    public let operation: String
    /// What it waits for, where that was made, and who holds it; nil if the call does not tell.
    public let subject: String?
  }

  /// Those that wait, in the order of their launches.
  public let waiting: [Waiting]

  /// Coroutines each of which waits for the next, and the last for the first; empty if there is no
  /// such ring.
  public let cycle: [String]

  /// Who waits for what, and the ring, if there is one.
  public let description: String

  init(_ coroutines: [Coroutine]) {
    waiting = coroutines.map { coroutine in
      let wait = coroutine.wait
      return Waiting(
        coroutine: coroutine.description,
        creationSite: coroutine.creationSite,
        operation: wait?.operation ?? "no call (it has been started by another one)",
        subject: wait?.subjectDescription
      )
    }
    let byID = Dictionary(coroutines.map { ($0.id, $0) }) { one, _ in one }
    let cycles = WaitCycle.all(among: coroutines.map(\.id)) {
      byID[$0]?.wait?.holder?.id
    }
    cycle = cycles.first?.compactMap { byID[$0]?.description } ?? []
    let count = waiting.count == 1 ? "1 coroutine waits" : "\(waiting.count) coroutines wait"
    var lines = ["Deadlock: \(count), and nothing can wake them."]
    for (one, coroutine) in zip(waiting, coroutines) {
      let details = coroutine.wait?.subjects.compactMap(\.object.waitSubjectState) ?? []
      lines.append(
        "  \(one.coroutine), launched at \(one.creationSite), waits in \(one.operation)"
          + (one.subject.map { " on \($0)" } ?? "")
          + (details.count == 1 ? ": \(details[0])" : "")
      )
    }
    if let first = cycle.first {
      lines.append(
        "Each of these waits for the next: \((cycle + [first]).joined(separator: " → "))"
      )
    }
    lines.append(
      "Give each wait somebody who ends it, or a limit of time; take several locks in the same order everywhere."
    )
    description = lines.joined(separator: "\n")
  }
}

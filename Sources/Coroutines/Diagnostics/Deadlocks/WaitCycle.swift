// SPDX-License-Identifier: Apache-2.0

/// Rings of parties each of which waits for the next.
package enum WaitCycle {
  /// All rings; since each party waits for one other at most, no two have a member in common.
  ///
  /// - Parameters:
  ///   - parties: Who may wait.
  ///   - next: Whom a party waits for; nil if it does not wait for exactly one.
  /// - Returns: The rings, each from the first of its members in `parties` on. Takes time in proportion to their
  ///   number.
  package static func all<Party: Hashable>(
    among parties: some Sequence<Party>,
    next: (Party) -> Party?
  ) -> [[Party]] {
    var cycles: [[Party]] = []
    var seen: Set<Party> = []
    for start in parties {
      var path: [Party] = []
      var places: [Party: Int] = [:]
      var current: Party? = start
      while let party = current, seen.insert(party).inserted {
        places[party] = path.count
        path.append(party)
        current = next(party)
      }
      // It has led back to where it came by, and not to what an earlier one went through.
      if let party = current, let place = places[party] { cycles.append(Array(path[place...])) }
    }
    return cycles
  }
}

extension CoroutineDump {
  /// Coroutines that wait for each other in rings: each for the end of the next, or for a mutex that the next one
  /// holds.
  ///
  /// They cannot go on by themselves, whatever else goes on in the program. Only a cancellation from outside, or a
  /// limit in which one of them waits (`Wait.timeLeft`), could end it; rings in which somebody waits with a limit are
  /// not in the list.
  public var cycles: [[Entry]] {
    let byID = Dictionary(entries.lazy.map { ($0.id, $0) }) { one, _ in one }
    return WaitCycle.all(among: entries.lazy.map(\.id)) { byID[$0]?.wait?.holder }
      .map { $0.compactMap { byID[$0] } }
      .filter { $0.allSatisfy { $0.wait?.timeLeft == nil } }
  }
}

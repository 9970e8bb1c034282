// SPDX-License-Identifier: Apache-2.0

/// How far a pass has come.
struct Reading: Sendable {
  enum Phase: Sendable {
    /// Walking the tree and counting its files.
    case counting
    /// Comparing files that may be the same.
    case comparing
    /// All of it again, one after the other.
    case sequential
    /// Fetching files.
    case mirroring

    /// What is going on, for people.
    var words: String {
      switch self {
      case .counting: "Counting"
      case .comparing: "Comparing"
      case .sequential: "Once more, one by one"
      case .mirroring: "Mirroring"
      }
    }
  }

  var phase = Phase.counting
  /// How much of the phase is done, from 0 to 1.
  var fraction = 0.0
  var files = 0
  var bytes = 0

  mutating func begin(_ phase: Phase) {
    self = Reading(phase: phase)
  }

  /// A file is done.
  ///
  /// Files are not done in the order of the walk, and the bar does not go back.
  mutating func finishFile(at position: Double) {
    files += 1
    fraction = max(fraction, position)
  }

  /// A group of files has been compared; there are so many groups in all.
  mutating func finishGroup(of count: Int, among groups: Int) {
    files += count
    fraction = min(fraction + 1 / Double(groups), 1)
  }
}

// SPDX-License-Identifier: Apache-2.0

/// Everything that a pass over a tree finds out.
struct Census: Sendable {
  /// What both passes must agree on.
  struct Totals: Sendable, Hashable {
    var files = 0
    var counts = Counts()
    var directories = 0
    var hidden = 0
    var mounts = 0
    var links = 0
    var special = 0
  }

  private(set) var totals = Totals()
  private(set) var files: [FileFacts] = []
  private(set) var problems: [Problem] = []
  /// Nil until they have been looked for.
  private(set) var duplicates: [DuplicateSet]?

  /// Takes note of what the walk has come upon.
  ///
  /// - Returns: The file, if it is one: that is to be counted.
  mutating func note(_ finding: Finding) -> FileToCount? {
    switch finding {
    case .file(let path, let position): return FileToCount(path: path, position: position)
    case .directory: totals.directories += 1
    case .hidden: totals.hidden += 1
    case .mount: totals.mounts += 1
    case .link: totals.links += 1
    case .special: totals.special += 1
    case .problem(let problem): problems.append(problem)
    }
    return nil
  }

  /// Takes note of what came of counting a file.
  mutating func add(_ outcome: FileOutcome) {
    switch outcome {
    case .counted(let facts):
      totals.files += 1
      totals.counts.lines += facts.counts.lines
      totals.counts.words += facts.counts.words
      totals.counts.bytes += facts.counts.bytes
      files.append(facts)
    case .special: totals.special += 1
    case .problem(let problem): problems.append(problem)
    }
  }

  /// Groups of files that may be the same: those are to be compared.
  mutating func beginComparing() -> [[FileFacts]] {
    duplicates = []
    return Duplicates.candidates(among: files)
  }

  /// Takes note of files that were compared.
  mutating func add(_ comparison: Comparison) {
    duplicates?.append(contentsOf: comparison.sets)
    problems += comparison.problems
  }

  /// The biggest files, the biggest first; among equals in the order of names.
  func largest(_ count: Int) -> [FileFacts] {
    var best: [FileFacts] = []
    for file in files {
      let place =
        best.firstIndex {
          ($0.counts.bytes, file.path) < (file.counts.bytes, $0.path)
        } ?? best.count
      guard place < count else { continue }
      best.insert(file, at: place)
      if best.count > count { best.removeLast() }
    }
    return best
  }

  /// Puts what came in any order into one that does not depend on who was faster.
  mutating func sort() {
    duplicates?.sort { ($1.wasted, $0.paths[0]) < ($0.wasted, $1.paths[0]) }
    problems.sort { ($0.path, $0.reason) < ($1.path, $1.reason) }
  }

  /// True if another pass has found the same.
  func agrees(with other: Census) -> Bool {
    totals == other.totals && duplicates == other.duplicates && problems == other.problems
  }
}

/// A file that the walk has found, and how much of the tree lies behind it.
struct FileToCount: Sendable {
  let path: BytePath
  let position: Double
}

// SPDX-License-Identifier: Apache-2.0

/// What the tour has found out, for people and for programs.
struct Report: Sendable {
  let root: BytePath
  let jobs: Int
  let census: Census
  /// How long the crew took.
  let time: Duration
  /// How long the sequential pass took; nil if there was none, or not to its end.
  var sequentialTime: Duration?
  /// The two passes have found the same; nil if there was one only.
  var agrees: Bool?
  var isInterrupted = false

  static let largestCount = 10

  func name(_ path: BytePath) -> String {
    path.relative(to: root).description
  }
}

/// A report in lines of text.
struct TextReport {
  private let report: Report
  private var lines: [String] = []

  /// So many sets of duplicates, paths of a set, and problems are printed; `--json` has all.
  private static let shown = (sets: 5, paths: 4, problems: 10)

  init(_ report: Report) {
    self.report = report
  }

  static func text(_ report: Report) -> String {
    var text = TextReport(report)
    text.addTotals()
    text.addLargest()
    text.addDuplicates()
    text.addProblems()
    text.addLeftOut()
    text.addTime()
    return text.lines.joined(separator: "\n") + "\n"
  }

  private var census: Census { report.census }

  private mutating func addTotals() {
    let totals = census.totals
    if report.isInterrupted { lines.append("Interrupted. This is what was counted so far.") }
    lines += ["A tour of \(report.root)", ""]
    let rows = [
      ("files", totals.files), ("lines", totals.counts.lines), ("words", totals.counts.words),
      ("bytes", totals.counts.bytes), ("directories", totals.directories),
    ]
    let width = rows.map { $0.1.grouped.count }.max() ?? 0
    for (name, number) in rows { lines.append("  \(number.grouped.padded(to: width)) \(name)") }
  }

  private mutating func addLargest() {
    let largest = census.largest(Report.largestCount)
    guard let first = largest.first else { return }
    lines += ["", "Largest files"]
    let width = first.counts.bytes.grouped.count
    for file in largest {
      lines.append("  \(file.counts.bytes.grouped.padded(to: width))  \(report.name(file.path))")
    }
  }

  private mutating func addDuplicates() {
    guard let sets = census.duplicates else {
      lines += ["", "Duplicates: not looked for yet"]
      return
    }
    guard !sets.isEmpty else {
      lines += ["", "Duplicates: none"]
      return
    }
    let files = sets.reduce(0) { $0 + $1.paths.count }
    let wasted = sets.reduce(0) { $0 + $1.wasted }
    lines += [
      "",
      "Duplicates: \(files.of("file")) in \(sets.count.of("set")), \(wasted.asBytes) more than needed",
    ]
    for set in sets.prefix(Self.shown.sets) {
      lines.append("  \(set.paths.count.grouped) × \(set.bytes.of("byte"))")
      for path in set.paths.prefix(Self.shown.paths) { lines.append("    \(report.name(path))") }
      addRest(of: set.paths.count, after: Self.shown.paths, indent: "    ")
    }
    addRest(of: sets.count, after: Self.shown.sets, indent: "  ", "set")
  }

  private mutating func addProblems() {
    guard !census.problems.isEmpty else { return }
    let kinds = Problem.Kind.allCases.compactMap { kind in
      let count = census.problems.count { $0.kind == kind }
      return count == 0 ? nil : "\(count.grouped) \(kind.words)"
    }
    lines += ["", "Problems: \(kinds.joined(separator: ", "))"]
    for problem in census.problems.prefix(Self.shown.problems) {
      lines.append("  \(report.name(problem.path)): \(problem.kind.words) (\(problem.reason))")
    }
    addRest(of: census.problems.count, after: Self.shown.problems, indent: "  ")
  }

  private mutating func addRest(
    of count: Int,
    after shown: Int,
    indent: String,
    _ noun: String? = nil
  ) {
    guard count > shown else { return }
    let rest = count - shown
    lines.append("\(indent)… and \(noun.map { rest.of($0) } ?? rest.grouped) more (--json has all)")
  }

  private mutating func addLeftOut() {
    let totals = census.totals
    var parts: [String] = []
    if totals.hidden > 0 {
      parts.append(
        "\(totals.hidden.of("hidden directory", "hidden directories")) (--all goes into them)"
      )
    }
    if totals.mounts > 0 {
      parts.append("\(totals.mounts.of("other file system")) (--mounts)")
    }
    if totals.links > 0 { parts.append(totals.links.of("symbolic link")) }
    if totals.special > 0 {
      parts.append("\(totals.special.of("pipe, socket or device", "pipes, sockets and devices"))")
    }
    if !parts.isEmpty { lines += ["", "Left out: \(parts.joined(separator: "; "))"] }
  }

  private mutating func addTime() {
    let workers = report.jobs.of("worker")
    lines.append("")
    guard let sequential = report.sequentialTime else {
      lines.append("Time: \(report.time.inSeconds) with \(workers)")
      return
    }
    let ratio = (sequential.seconds / max(report.time.seconds, 1e-6)).rounded(to: 2)
    lines.append("Time: \(report.time.inSeconds) with \(workers): \(ratio) times as fast as")
    lines.append(
      "      \(sequential.inSeconds) one by one, right after, with the files in the cache."
    )
    lines.append(
      report.agrees == true
        ? "Both passes agree."
        : "The two passes DISAGREE. Perhaps somebody is changing the files."
    )
  }
}

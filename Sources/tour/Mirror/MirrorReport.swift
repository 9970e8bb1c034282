// SPDX-License-Identifier: Apache-2.0

/// What has come of a file.
struct FileCopy: Sendable {
  /// By what it is known to be complete.
  enum Verification: String, Sendable, CaseIterable {
    /// The server's digest and its length.
    case digest
    /// The server's length.
    case length
    /// The end that the protocol marks.
    case end
  }

  let bytes: Int
  /// Of SHA-256.
  let digest: [UInt8]
  let verification: Verification
}

/// A file that is here now.
struct MirroredFile: Sendable {
  let name: BytePath
  let copy: FileCopy
  let attempts: Int
  let time: Duration
}

/// A file that could not be had.
struct MissingFile: Sendable {
  let name: BytePath
  let failure: FetchFailure
}

/// What `tour mirror` has done, for people and for programs.
struct MirrorReport: Sendable {
  let source: String
  let output: BytePath
  let jobs: Int
  /// Links on the page.
  var expected = 0
  var files: [MirroredFile] = []
  var missing: [MissingFile] = []
  /// Attempts that failed and were followed by another one.
  var retries: [FetchFailure.Kind: Int] = [:]
  var time = Duration.zero
  var isInterrupted = false

  var bytes: Int { files.reduce(0) { $0 + $1.copy.bytes } }

  /// All is here.
  var isComplete: Bool { !isInterrupted && missing.isEmpty && files.count == expected }

  /// Puts what came in any order into one that does not depend on who was faster.
  mutating func sort() {
    files.sort { $0.name < $1.name }
    missing.sort { $0.name < $1.name }
  }

  // MARK: - Text

  /// The report in lines of text.
  var text: String {
    var lines: [String] = []
    if isInterrupted {
      lines.append("Interrupted. These files are complete, and there are no others.")
    }
    lines += ["A mirror of \(source), in \(output)", ""]
    let rows = [("files", files.count), ("bytes", bytes)]
    let width = rows.map { $0.1.grouped.count }.max() ?? 0
    for (name, number) in rows { lines.append("  \(number.grouped.padded(to: width)) \(name)") }
    lines += ["", "Verified: \(parts(verified))", "Tried again: \(parts(again))"]
    if !missing.isEmpty {
      lines += ["", "Missing: \(missing.count.of("file"))"]
      for file in missing { lines.append("  \(file.name): \(file.failure.reason)") }
    }
    let rate = Int(Double(bytes) / max(time.seconds, 1e-6))
    lines += [
      "", "Time: \(time.inSeconds) with \(jobs.of("worker")), \(rate.asBytes) a second", result,
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  private func parts(_ parts: [String]) -> String {
    parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
  }

  private var verified: [String] {
    FileCopy.Verification.allCases.compactMap { kind in
      let count = files.count { $0.copy.verification == kind }
      let words =
        switch kind {
        case .digest: "length and SHA-256"
        case .length: "length alone"
        case .end: "end alone"
        }
      return count == 0 ? nil : "\(count.of("file")) by \(words)"
    }
  }

  private var again: [String] {
    FetchFailure.Kind.allCases.compactMap { kind in
      retries[kind].map { "\(kind.words) \($0.of("time"))" }
    }
  }

  private var result: String {
    let count = "\(files.count.grouped) of \(expected.of("file"))"
    return isComplete ? "All \(expected.of("file")) mirrored." : "INCOMPLETE: \(count) mirrored."
  }

  // MARK: - JSON

  /// The report as one JSON object.
  var json: String {
    let object = JSON.object([
      ("source", .string(source)),
      ("output", .string("\(output)")),
      ("interrupted", .bool(isInterrupted)),
      ("complete", .bool(isComplete)),
      ("expected", .int(expected)),
      ("bytes", .int(bytes)),
      ("files", .array(files.map(Self.json))),
      (
        "missing",
        .array(
          missing.map {
            .object([
              ("name", .string("\($0.name)")), ("kind", .string($0.failure.kind.rawValue)),
              ("reason", .string($0.failure.reason)),
            ])
          }
        )
      ),
      (
        "retries",
        .object(FetchFailure.Kind.allCases.map { ($0.rawValue, .int(retries[$0] ?? 0)) })
      ),
      ("jobs", .int(jobs)),
      ("seconds", .seconds(time)),
    ])
    return "\(object)\n"
  }

  private static func json(_ file: MirroredFile) -> JSON {
    let digits = file.copy.digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    return .object([
      ("name", .string("\(file.name)")), ("bytes", .int(file.copy.bytes)),
      ("sha256", .string(digits.joined())),
      ("verifiedBy", .string(file.copy.verification.rawValue)), ("attempts", .int(file.attempts)),
      ("seconds", .seconds(file.time)),
    ])
  }
}

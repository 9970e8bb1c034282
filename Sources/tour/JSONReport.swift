// SPDX-License-Identifier: Apache-2.0

/// A report as one JSON object.
///
/// Names are written as `BytePath.description` has them, so that they are UTF-8 and lose nothing.
enum JSONReport {
  static func text(_ report: Report) -> String {
    let totals = report.census.totals
    let object = JSON.object([
      ("root", .string("\(report.root)")),
      ("interrupted", .bool(report.isInterrupted)),
      ("files", .int(totals.files)),
      ("lines", .int(totals.counts.lines)),
      ("words", .int(totals.counts.words)),
      ("bytes", .int(totals.counts.bytes)),
      ("directories", .int(totals.directories)),
      (
        "leftOut",
        .object([
          ("hiddenDirectories", .int(totals.hidden)),
          ("fileSystems", .int(totals.mounts)),
          ("links", .int(totals.links)),
          ("special", .int(totals.special)),
        ])
      ),
      ("largest", .array(report.census.largest(Report.largestCount).map { file($0, in: report) })),
      ("duplicates", report.census.duplicates.map { duplicates($0, in: report) } ?? .null),
      ("problems", .array(report.census.problems.map { problem($0, in: report) })),
      ("jobs", .int(report.jobs)),
      ("seconds", .seconds(report.time)),
      ("sequentialSeconds", report.sequentialTime.map { .seconds($0) } ?? .null),
      ("passesAgree", report.agrees.map { .bool($0) } ?? .null),
    ])
    return "\(object)\n"
  }

  private static func file(_ facts: FileFacts, in report: Report) -> JSON {
    .object([
      ("path", .string(report.name(facts.path))), ("bytes", .int(facts.counts.bytes)),
    ])
  }

  private static func duplicates(_ sets: [DuplicateSet], in report: Report) -> JSON {
    .array(
      sets.map { set in
        .object([
          ("bytes", .int(set.bytes)),
          ("paths", .array(set.paths.map { .string(report.name($0)) })),
        ])
      }
    )
  }

  private static func problem(_ problem: Problem, in report: Report) -> JSON {
    .object([
      ("path", .string(report.name(problem.path))),
      ("kind", .string(problem.kind.rawValue)),
      ("reason", .string(problem.reason)),
    ])
  }
}

/// A JSON value; `description` is its text.
enum JSON: CustomStringConvertible {
  case null
  case bool(Bool)
  case int(Int)
  case seconds(Duration)
  case string(String)
  case array([JSON])
  /// In the order given.
  case object([(String, JSON)])

  var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .seconds(let value): value.seconds.rounded(to: 6)
    case .string(let value): Self.quoted(value)
    case .array(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
    case .object(let members):
      "{" + members.map { "\(Self.quoted($0)): \($1)" }.joined(separator: ", ") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\0"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

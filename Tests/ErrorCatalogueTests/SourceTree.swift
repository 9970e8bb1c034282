// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The sources of the library, as far as they hold messages.
enum SourceTree {
  /// The repository.
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// A piece of a message that is the same in all runs, and where it stands.
  struct Fragment: Hashable {
    let text: String
    let file: String
  }

  /// What others have to be shown to be a piece of a message.
  static let shortest = 15

  /// Targets that are programs, or serve programs of this repository only.
  private static let left = ["tour", "coroutine-bench", "HTTPServer", "CAllocationCounter"]

  /// All pieces of all messages.
  static func fragments() throws -> Set<Fragment> {
    let sources = root.appending(path: "Sources")
    var found: Set<Fragment> = []
    for target in try FileManager.default.contentsOfDirectory(atPath: sources.path())
    where !left.contains(target) {
      let folder = sources.appending(path: target).path()
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder)
      where path.hasSuffix(".swift") || path.hasSuffix(".c") {
        let text = try String(contentsOfFile: folder + "/" + path, encoding: .utf8)
        for piece in pieces(in: text) {
          found.insert(Fragment(text: piece, file: "\(target)/\(path)"))
        }
      }
    }
    return found
  }

  /// The names of all public types that can be thrown.
  static func errorTypes() throws -> Set<String> {
    let sources = root.appending(path: "Sources")
    var found: Set<String> = []
    for target in try FileManager.default.contentsOfDirectory(atPath: sources.path())
    where !left.contains(target) {
      let folder = sources.appending(path: target).path()
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder)
      where path.hasSuffix(".swift") {
        let text = try String(contentsOfFile: folder + "/" + path, encoding: .utf8)
        for match in text.matches(of: publicError) { found.insert(String(match.output.1)) }
      }
    }
    return found
  }

  // SAFETY: never changed; `Regex` is not `Sendable`.
  nonisolated(unsafe) private static let publicError =
    /public (?:struct|enum|final class|class) (\w+)(?:<\w+>)?: [^{]*\b(?:Error|LocalizedError)\b[^{]*\{/
  nonisolated(unsafe) private static let anyError =
    /(?:struct|enum|class|extension) (\w*Error|Deadlock|\w+Failure|\w+Violation|NoPreemptionPoints|\w+Race|LostWakeUp)\b[^{\n]*\{/
  nonisolated(unsafe) private static let call =
    /\b(?:demand|fatalError|fprintf|put|cck_print_error)\(/

  private static func pieces(in text: String) -> [String] {
    var lexer = Lexer(text)
    var found: [String] = []
    for match in text.matches(of: call) {
      found += lexer.literals(from: match.range.upperBound, to: ")")
    }
    for match in text.matches(of: anyError) {
      found += lexer.literals(from: match.range.upperBound, to: "}")
    }
    // A text that is made before the call that prints it, in the same function.
    for match in text.matches(of: /withCString \{ cck_print_error/) {
      let before = text[..<match.range.lowerBound]
      guard let function = before.ranges(of: "func ").last ?? before.ranges(of: " var ").last
      else { continue }
      var lexer = Lexer(String(text[function.lowerBound..<match.range.lowerBound]))
      found += lexer.literals()
    }
    return found.flatMap { $0.split(separator: /%[0-9]*[a-z]+|\n/) }
      .map { $0.trimmingCharacters(in: .whitespaces) }
      // Said by the system, too, and left out there.
      .map { $0.hasPrefix("Fatal error: ") ? String($0.dropFirst(13)) : $0 }
      .filter { $0.count >= shortest && $0.contains(" ") }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The catalogue as a page of the documentation.
enum CatalogueDocument {
  /// The page in the repository.
  static let file = SourceTree.root.appending(path: "Documentation/Errors.md")

  static let introduction = """
    # Error messages

    Every message of the library: what brings it about, and what it says. Each says what happened, to what or where, and
    what to do. Numbers, ports and places in the program are examples.

    This page is made by `Tests/ErrorCatalogueTests`, which provoke each message and compare what they get with what stands
    here; a message in the sources that is not here fails them. After a change:
    `COROUTINES_UPDATE_ERRORS=1 swift test --filter ErrorCatalogueTests`, and look at the difference.

    Errors that a program throws itself come out as they are. Errors with an `errno` (`IOError`) say what to do where the code
    alone tells; for the rest, such as a path that is not there, the system's words are all there is.

    The report of a deadlock, with its dump of all coroutines, is too long for this page: it is what
    `swift run --package-path Examples dining-philosophers --deadlock` ends with.

    """

  /// The page, with what was provoked.
  ///
  /// - Parameter texts: By the titles of the messages; normalised.
  /// - Returns: Its text.
  static func render(_ texts: [String: String]) -> String {
    var page = introduction
    for chapter in catalogue {
      page += "\n## \(chapter.title)\n"
      for message in chapter.messages {
        page += "\n**\(heading(message.title)).** \(message.way.rawValue).\n\n"
        page += quote(texts[message.title] ?? "")
      }
    }
    return page
  }

  private static func heading(_ title: String) -> String {
    title.hasPrefix("coswift") ? title : title.prefix(1).uppercased() + title.dropFirst()
  }

  /// One line as a quotation, several as they are.
  private static func quote(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.count > 1 { return "```text\n\(text)\n```\n" }
    var (quoted, line) = ("", ">")
    for word in text.split(separator: " ") {
      if line.count + word.count >= 118 {
        quoted += line + "\n"
        line = ">"
      }
      line += " " + word
    }
    return quoted + line + "\n"
  }

  /// What differs from run to run, or moves with each change of a file, made the same.
  static func normalise(_ text: String) -> String {
    var text = text
    text = text.replacing(/ErrorCatalogueTests\/\w+\.swift:\d+/, with: "App/Main.swift:12")
    text = text.replacing(/((?:Coroutines\w*|coswift)\/[\w+]+\.swift):\d+/) { "\($0.output.1)" }
    var numbers: [Substring] = []
    text = text.replacing(/(coroutine |[,;] )#(\d+)/) { match in
      let place = numbers.firstIndex(of: match.output.2) ?? numbers.count
      if place == numbers.count { numbers.append(match.output.2) }
      return "\(match.output.1)#\(7 + place)"
    }
    text = text.replacing(/127\.0\.0\.1:\d{4,5}/, with: "127.0.0.1:49152")
    text = text.replacing(/after \d+ guarded stacks/, with: "after 26212 guarded stacks")
    text = text.replacing(/max_map_count is \d+/, with: "max_map_count is 65530")
    return text
  }
}

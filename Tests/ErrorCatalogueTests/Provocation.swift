// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What came of a message that was provoked.
struct Provocation: Sendable {
  /// What it said; nil if it did not come.
  var text: String?
  /// The type of what was thrown.
  var type: String?
  /// Everything that was printed, if the message was not found in it.
  var output = ""
}

/// All messages, each provoked once, by whichever test asks first.
actor Provocations {
  static let shared = Provocations()

  private var all: Task<[String: Provocation], Never>?

  /// What came of each, by its title.
  func byTitle() async -> [String: Provocation] {
    let task =
      all
      ?? Task.detached {
        var all: [String: Provocation] = [:]
        for message in catalogue.flatMap(\.messages) {
          all[message.title] = message.isApart ? await apart(message) : here(message)
        }
        return all
      }
    all = task
    return await task.value
  }
}

/// Catches an error in this process.
private func here(_ message: Message) -> Provocation {
  do {
    try message.provoke()
    return Provocation()
  } catch {
    let type = "\(type(of: error))".prefix { $0 != "<" }
    return Provocation(text: Message.text(of: error), type: String(type))
  }
}

/// Reads what another process prints.
private func apart(_ message: Message) async -> Provocation {
  let title = message.title
  let result = await #expect(
    processExitsWith: message.way == .stop ? .failure : .exitCode(33),
    observing: [\.standardErrorContent]
  ) { [title = title as String] in
    // A message that does not come ends the process.
    _ = alarm(300)
    setenv("SWIFT_BACKTRACE", "enable=no", 1)
    guard let message = catalogue.flatMap(\.messages).first(where: { $0.title == title }) else {
      exit(EXIT_SUCCESS)
    }
    do {
      try message.provoke()
    } catch {
      FileHandle.standardError.write(Data("Thrown: \(Message.text(of: error))\n".utf8))
    }
    exit(message.way == .stop ? EXIT_SUCCESS : 33)
  }
  let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  return Provocation(text: find(in: output), output: output)
}

/// What a process has said, without what others print before and after it.
private func find(in output: String) -> String? {
  // What is behind the first two is all of the message, of the others it is a part.
  for (mark, isPart) in [
    ("Fatal error: ", false), ("Thrown: ", false), ("swift-coroutines: ", true),
    ("coswift: ", true),
  ] {
    guard let range = output.range(of: mark) else { continue }
    let start = isPart ? range.lowerBound : range.upperBound
    return String(output[start...].prefix { $0 != "\n" })
  }
  return nil
}

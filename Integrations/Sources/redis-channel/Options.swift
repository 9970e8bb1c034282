// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The options of a command line: names and values.
struct Options {
  private var values: [String: String] = [:]

  init(_ words: ArraySlice<String>) {
    var words = words
    while let name = words.popFirst() {
      guard name.hasPrefix("--"), let value = words.popFirst() else {
        stop("what is \(name)?\n\(RedisChannel.usage)", status: 2)
      }
      values[name] = value
    }
  }

  func text(_ name: String, default value: String? = nil) -> String {
    guard let text = values[name] ?? value else { stop("\(name) is missing", status: 2) }
    return text
  }

  func number(_ name: String, default value: Int? = nil) -> Int {
    guard let number = Int(text(name, default: value.map { String($0) })) else {
      stop("\(name) is no number", status: 2)
    }
    return number
  }
}

/// Ends the program with a message on standard error.
func stop(_ message: String, status: Int32 = 1) -> Never {
  let text = message + "\n"
  _ = write(STDERR_FILENO, text, text.utf8.count)
  exit(status)
}

/// What is claimed, and whether it is so.
final class Checks {
  private var wrong = 0
  private var right = 0

  func expect(_ holds: Bool, _ claim: String) {
    if holds { right += 1 } else { wrong += 1 }
    print(holds ? "  right: \(claim)" : "  WRONG: \(claim)")
    // Should it hang after this, one sees where, also in a pipe.
    fflush(nil)
  }

  /// Ends the program, with status 1 if a claim was wrong.
  func finish() -> Never {
    print(wrong == 0 ? "all \(right) claims hold" : "\(wrong) of \(wrong + right) claims are wrong")
    exit(wrong == 0 ? 0 : 1)
  }
}

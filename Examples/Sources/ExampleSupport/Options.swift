// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The command line of an example: `--check`, `--help`, and numbers by name.
public struct Options {
  /// Smaller numbers, for a quick check that the results are right.
  public let isCheck: Bool
  private var numbers: [String: Int] = [:]

  /// Reads the command line; prints `usage` and ends the program on `--help` or something unknown.
  ///
  /// - Parameters:
  ///   - usage: What `--help` prints.
  ///   - names: The options that are followed by a number, with their dashes.
  public init(usage: String, names: [String]) {
    var words = CommandLine.arguments.dropFirst()
    var isCheck = false
    while let word = words.popFirst() {
      switch word {
      case "--help", "-h":
        print(usage)
        exit(0)
      case "--check":
        isCheck = true
      default:
        guard names.contains(word), let number = words.popFirst().flatMap({ Int($0) }), number > 0
        else { stop("what is \(word)?\n\(usage)", status: 2) }
        numbers[word] = number
      }
    }
    self.isCheck = isCheck
  }

  /// The number given for an option, or else one for a full run or for `--check`.
  ///
  /// - Parameters:
  ///   - name: The option, with its dashes.
  ///   - full: Without `--check`.
  ///   - check: With `--check`.
  /// - Returns: The number.
  public func number(_ name: String, full: Int, check: Int) -> Int {
    numbers[name] ?? (isCheck ? check : full)
  }
}

/// Ends the program with a message on standard error.
///
/// - Parameters:
///   - message: Why.
///   - status: The exit status.
public func stop(_ message: String, status: Int32 = 1) -> Never {
  let text = message + "\n"
  _ = write(STDERR_FILENO, text, text.utf8.count)
  exit(status)
}

/// A variable of the environment; ends the program if it is not there.
///
/// - Parameters:
///   - name: The variable.
///   - script: The script that sets it.
/// - Returns: Its value.
public func requiredVariable(_ name: String, setBy script: String) -> String {
  guard let value = getenv(name) else { stop("\(name) is not set: run this under \(script).") }
  return String(cString: value)
}

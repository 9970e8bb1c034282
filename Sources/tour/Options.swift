// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What the command line asks for.
struct Options: Sendable, Equatable {
  /// Nil: the package around the current directory.
  var path: BytePath?
  var jobs = 8
  var includesHidden = false
  var includesMounts = false
  var compares = true
  var isJSON = false
  var isQuiet = false
  var wantsHelp = false
  /// Where to put a timeline.
  var trace: BytePath?

  /// A command line that makes no sense.
  struct UsageError: Error, Equatable {
    let message: String
  }

  static let jobsRange = 1...256

  /// Reads the arguments, the program's name not among them.
  ///
  /// They are bytes: a path need not be UTF-8.
  init(_ arguments: [[UInt8]]) throws(UsageError) {
    var rest = arguments[...]
    var areOptionsOver = false
    while let argument = rest.popFirst() {
      if areOptionsOver || argument.first != UInt8(ascii: "-") || argument.count == 1 {
        guard path == nil else {
          throw UsageError(message: "only one PATH, please; \(BytePath(argument)) is the second")
        }
        guard !argument.isEmpty else { throw UsageError(message: "PATH is empty") }
        path = BytePath(argument)
        continue
      }
      switch String(decoding: argument, as: UTF8.self) {
      case "--": areOptionsOver = true
      case "-h", "--help": wantsHelp = true
      case "-a", "--all": includesHidden = true
      case "--mounts": includesMounts = true
      case "--no-compare": compares = false
      case "--json": isJSON = true
      case "-q", "--quiet": isQuiet = true
      case "--trace":
        guard let value = rest.popFirst(), !value.isEmpty else {
          throw UsageError(message: "--trace needs a file")
        }
        trace = BytePath(value)
      case let option where option.hasPrefix("--trace=") && option.utf8.count > 8:
        trace = BytePath(Array(argument.dropFirst("--trace=".utf8.count)))
      case "-j", "--jobs":
        guard let value = rest.popFirst() else {
          throw UsageError(message: "--jobs needs a number")
        }
        jobs = try Self.jobs(String(decoding: value, as: UTF8.self))
      case let option where option.hasPrefix("--jobs="):
        jobs = try Self.jobs(String(option.dropFirst("--jobs=".count)))
      default: throw UsageError(message: "there is no option \(BytePath(argument))")
      }
    }
  }

  private static func jobs(_ text: String) throws(UsageError) -> Int {
    guard let number = Int(text), jobsRange.contains(number) else {
      let range = "\(jobsRange.lowerBound) to \(jobsRange.upperBound)"
      throw UsageError(
        message: "--jobs takes a number from \(range), not “\(BytePath(text))”"
      )
    }
    return number
  }

  static let help = """
    Usage: tour [OPTION]... [PATH]
           tour mirror [OPTION]... [URL|PATH]

    Counts the lines, words and bytes of all files in a directory tree, many files at
    a time, with coroutines; finds the largest files and those of the same content;
    then does it all again one file after the other, and compares results and times.

    PATH is a directory or a file. Without it: the package that the current directory
    is in (where there is a Package.swift), else the current directory.

      -j, --jobs N     count N files at a time, 1 to 256 (default: 8)
      -a, --all        go into hidden directories too (names that begin with a dot)
          --mounts     go into other file systems too
          --no-compare leave out the second, sequential pass
          --json       print one JSON object
          --trace FILE record what the coroutines do, and write a timeline: a page for
                       the browser, or, if FILE ends in .json, Chrome's trace format
      -q, --quiet      show no progress
      -h, --help       print this

    tour mirror fetches all files of an index page, several at a time; without URL or
    PATH, from a server of its own that draws pictures: see tour mirror --help. (For a
    directory of that name write ./mirror.)

    A line is a newline byte; a word is a run of bytes that are not white space, as
    in the C locale. Symbolic links are not followed; pipes, sockets and devices are
    not read. What cannot be read is reported and does not end the tour. A file with
    several names (hard links) is counted once for each, but is no duplicate of itself.

    Names are printed with backslashes doubled and with \\xHH for each byte of a
    control character and each byte that is not UTF-8, so nothing of a name is lost.

    Exit status: 0 done; 1 the two passes disagree; 64 bad usage; 66 PATH cannot be
    read; 73 FILE cannot be written; 74 output cannot be written; 130 interrupted by
    Ctrl-C (what was counted so far is printed).

    """
}

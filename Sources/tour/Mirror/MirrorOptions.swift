// SPDX-License-Identifier: Apache-2.0

/// What the command line of `tour mirror` asks for.
struct MirrorOptions: Sendable, Equatable {
  /// What is mirrored.
  enum Source: Sendable, Equatable {
    /// Pictures that this program draws and serves.
    case drawn
    /// A directory that this program serves.
    case directory(BytePath)
    /// A page of somebody's server.
    case address(String)
  }

  var source = Source.drawn
  var output = BytePath("mirror")
  var jobs = 6
  var retries = 5
  /// For one attempt at a file.
  var timeout = Duration.seconds(60)
  /// How long an attempt goes on without a byte.
  var patience = Duration.seconds(3)
  var pictures = 24
  var width = 480
  var hasFaults = false
  var isJSON = false
  var isQuiet = false
  var wantsHelp = false
  /// Where to put a timeline.
  var trace: BytePath?

  /// Reads the arguments that follow `mirror`.
  init(_ arguments: [[UInt8]]) throws(Options.UsageError) {
    var rest = arguments[...]
    var areOptionsOver = false
    var hasSource = false
    while let argument = rest.popFirst() {
      let path = BytePath(argument)
      if areOptionsOver || argument.first != UInt8(ascii: "-") || argument.count == 1 {
        guard !hasSource else {
          throw Options.UsageError(message: "only one URL or PATH, please; \(path) is the second")
        }
        source = try Self.source(argument)
        hasSource = true
        continue
      }
      if argument == Array("--".utf8) {
        areOptionsOver = true
      } else if !takeSwitch(String(decoding: argument, as: UTF8.self)) {
        try takeValue(argument, &rest)
      }
    }
  }

  private static func source(_ argument: [UInt8]) throws(Options.UsageError) -> Source {
    guard !argument.isEmpty else { throw Options.UsageError(message: "URL or PATH is empty") }
    let text = String(decoding: argument, as: UTF8.self)
    if ["http://", "https://"].contains(where: { text.lowercased().hasPrefix($0) }) {
      return .address(text)
    }
    return .directory(BytePath(argument))
  }

  private mutating func takeSwitch(_ option: String) -> Bool {
    switch option {
    case "-h", "--help": wantsHelp = true
    case "--faults": hasFaults = true
    case "--json": isJSON = true
    case "-q", "--quiet": isQuiet = true
    default: return false
    }
    return true
  }

  /// Takes an option with a value: `--name value` or `--name=value`.
  private mutating func takeValue(
    _ argument: [UInt8],
    _ rest: inout ArraySlice<[UInt8]>
  ) throws(Options.UsageError) {
    let equals = argument.firstIndex(of: UInt8(ascii: "="))
    let isLong = argument.starts(with: "--".utf8)
    let end = isLong ? equals ?? argument.endIndex : argument.endIndex
    let option = String(decoding: argument[..<end], as: UTF8.self)
    let names = [
      "-o", "--output", "-j", "--jobs", "--retries", "--timeout", "--patience", "--pictures",
      "--width", "--trace",
    ]
    guard names.contains(option) else {
      throw Options.UsageError(message: "there is no option \(BytePath(argument))")
    }
    let inline = end < argument.endIndex ? Array(argument[(end + 1)...]) : nil
    guard let value = inline ?? rest.popFirst(), !value.isEmpty else {
      throw Options.UsageError(message: "\(option) needs a value")
    }
    switch option {
    case "-o", "--output": output = BytePath(value)
    case "-j", "--jobs": jobs = try Self.number(option, value, 1...64)
    case "--retries": retries = try Self.number(option, value, 0...20)
    case "--timeout": timeout = try Self.seconds(option, value)
    case "--patience": patience = try Self.seconds(option, value)
    case "--trace": trace = BytePath(value)
    case "--pictures": pictures = try Self.number(option, value, 1...1000)
    default: width = try Self.number(option, value, 16...2000)
    }
  }

  private static func number(
    _ option: String,
    _ value: [UInt8],
    _ range: ClosedRange<Int>
  ) throws(Options.UsageError) -> Int {
    if let number = Int(String(decoding: value, as: UTF8.self)), range.contains(number) {
      return number
    }
    throw Options.UsageError(
      message: "\(option) takes a number from \(range.lowerBound) to \(range.upperBound), "
        + "not “\(BytePath(value))”"
    )
  }

  private static func seconds(
    _ option: String,
    _ value: [UInt8]
  ) throws(Options.UsageError) -> Duration {
    if let seconds = Double(String(decoding: value, as: UTF8.self)), 0.001...86_400 ~= seconds {
      return .seconds(seconds)
    }
    throw Options.UsageError(
      message: "\(option) takes seconds, 0.001 to 86400, not “\(BytePath(value))”"
    )
  }

  static let help = """
    Usage: tour mirror [OPTION]... [URL|PATH]

    Fetches all files that an index page links to, several at a time, with coroutines:
    straight-line code over URLSession, with retries, time limits and digests.

    URL is the page (http or https); files beside it are fetched, and nothing else. For
    PATH, a directory, this program serves its files itself, on this machine alone.
    Without either it serves pictures that it draws when they are asked for.

      -o, --output DIR    where to put the files (default: mirror); made if need be
      -j, --jobs N        fetch N files at a time, 1 to 64 (default: 6)
          --retries N     after an attempt at a file, try again up to N times, 0 to 20
                          (default: 5), each time after about twice as long
          --timeout S     give an attempt up after S seconds (default: 60)
          --patience S    … or when nothing has come for S seconds (default: 3)
          --pictures N    draw N pictures, 1 to 1000 (default: 24)
          --width N       pixels of a picture's longer side, 16 to 2000 (default: 480)
          --faults        have the own server fail now and then: 503, a stall, resets,
                          wrong bytes
          --json          print one JSON object
          --trace FILE    record what the coroutines do, and write a timeline: a page, or,
                          if FILE ends in .json, Chrome's trace format
      -q, --quiet         show no progress
      -h, --help          print this

    A file appears in DIR only when it is complete: as long as the server said, and of
    the digest that the server sent (Repr-Digest or Content-Digest with sha-256), if it
    sent any. Files of the same name are replaced. Names with a leading dot are skipped.

    Exit status: 0 done; 1 some files could not be had; 64 bad usage; 66 PATH cannot be
    read; 69 the page at URL cannot be had; 73 DIR or FILE cannot be made; 74 output cannot be
    written; 130 interrupted by Ctrl-C (files that are complete stay, nothing else).

    """
}

// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Shows on standard error how far the tour has come: a bar on a terminal, else a line now and then.
final class Progress {
  private enum Style {
    case bar(isUnicode: Bool)
    case lines
    case none
  }

  private static let standardError: Int32 = 2

  var reading = Reading()

  private let style: Style
  private let start = ContinuousClock.now
  private var nextShow: ContinuousClock.Instant
  /// Between lines; doubles, so that there are few of them.
  private var pause = Duration.seconds(2)
  private var isBarDrawn = false

  init(isQuiet: Bool) {
    if isQuiet {
      style = .none
    } else if isatty(Self.standardError) != 0, Self.variable("TERM") ?? "dumb" != "dumb" {
      let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { Self.variable($0) }.first
      let encoding = (locale ?? "").lowercased()
      style = .bar(isUnicode: encoding.hasSuffix("utf-8") || encoding.hasSuffix("utf8"))
    } else {
      style = .lines
    }
    // What is quick needs no progress.
    if case .bar = style {
      nextShow = start + .milliseconds(100)
    } else {
      nextShow = start + pause
    }
  }

  /// How long to wait for news before showing again.
  var timeToNextShow: Duration {
    if case .none = style { return .seconds(3600) }
    return max(ContinuousClock.now.duration(to: nextShow), .nanoseconds(1))
  }

  /// Shows the reading if it is time to.
  ///
  /// Results may come faster than the clock ticks, so this is to be called between them too.
  func showIfDue() {
    if case .none = style { return }
    let now = ContinuousClock.now
    guard now >= nextShow else { return }
    switch style {
    case .bar(let isUnicode):
      nextShow = now + .milliseconds(50)
      let line = Bar.line(reading, width: Self.width, isUnicode: isUnicode)
      write("\r\(line)\u{1B}[K")
      isBarDrawn = true
    case .lines:
      pause *= 2
      nextShow = now + pause
      let (files, bytes) = (reading.files.grouped, reading.bytes.asBytes)
      write("tour: \(reading.phase.words.lowercased()): \(files) files, \(bytes) so far\n")
    case .none: break
    }
  }

  /// Takes the bar away.
  func clear() {
    if isBarDrawn { write("\r\u{1B}[K") }
    isBarDrawn = false
  }

  private func write(_ text: String) {
    // Nobody is served by a tour that fails because its progress cannot be shown.
    _ = Output.write(text, to: Self.standardError)
  }

  /// Columns of the terminal, asked every time: it may have been resized.
  private static var width: Int {
    var size = winsize()
    guard ioctl(standardError, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
  }
}

/// A line with a bar.
enum Bar {
  /// The line, at least one column narrower than the terminal, so that it never wraps.
  static func line(_ reading: Reading, width: Int, isUnicode: Bool) -> String {
    let percent = "\(Int(reading.fraction * 100))%".padded(to: 4)
    let tail = " \(percent)  \(reading.files.grouped) files  \(reading.bytes.asBytes)"
    let head = "\(reading.phase.words) "
    let room = min(width - 1 - head.count - tail.count - 2, 40)
    guard room >= 5 else {
      return String((head + tail.drop { $0 == " " }).prefix(max(width - 1, 0)))
    }
    let filled = min(max(Int(reading.fraction * Double(room)), 0), room)
    let (full, empty) = isUnicode ? ("█", "░") : ("#", ".")
    let bar =
      String(repeating: full, count: filled) + String(repeating: empty, count: room - filled)
    return head + (isUnicode ? "▕\(bar)▏" : "[\(bar)]") + tail
  }
}

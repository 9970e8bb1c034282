// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Glibc

/// Shows on standard error how far the tour has come: a bar, if that is a terminal, and else nothing.
///
/// Each phase of the tour is a `ProgressPromise`; a coroutine of its own iterates it and draws. The work
/// never waits for the bar: what comes while the bar rests is skipped, but for the latest.
final class Progress {
  private static let standardError: Int32 = 2
  /// What is quick needs no progress.
  private static let delay = Duration.milliseconds(100)
  /// Between two drawings; more of them nobody sees.
  private static let rest = Duration.milliseconds(50)
  /// Without news, a big file's bytes are shown all the same.
  private static let patience = Duration.milliseconds(500)

  /// How far it has come; a change is news for the bar.
  var reading = Reading() {
    didSet { phase.report(reading.fraction) }
  }

  /// Nil if there is no terminal, or nobody wants a bar.
  private let style: Style?
  /// It shows a bar, if there is something to show.
  var hasBar: Bool { style != nil }
  private var phase = ProgressPromise<Void>()
  private var isBarDrawn = false

  private struct Style {
    let isUnicode: Bool
  }

  init(isQuiet: Bool) {
    if !isQuiet, isatty(Self.standardError) != 0, Self.variable("TERM") ?? "dumb" != "dumb" {
      let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { Self.variable($0) }.first
      let encoding = (locale ?? "").lowercased()
      style = Style(isUnicode: encoding.hasSuffix("utf-8") || encoding.hasSuffix("utf8"))
    } else {
      style = nil
    }
  }

  /// Shows a phase of the tour while `work` does it.
  func show<Result>(_ name: Reading.Phase, during work: () throws -> Result) throws -> Result {
    let promise = ProgressPromise<Void>()
    phase = promise
    reading.begin(name)
    guard let style else { return try work() }
    let artist = launch(name: "progress bar") { try self.draw(promise, style) }
    defer {
      promise.fulfill(())
      artist.cancel()
      clear()
    }
    return try work()
  }

  /// Draws until the phase is over.
  private func draw(_ promise: ProgressPromise<Void>, _ style: Style) throws {
    var fractions = promise.makeIterator()
    try Coroutine.sleep(for: Self.delay)
    while promise.isPending {
      let line = Bar.line(reading, width: Self.width, isUnicode: style.isUnicode)
      write("\r\(line)\u{1B}[K")
      isBarDrawn = true
      try Coroutine.sleep(for: Self.rest)
      try? withTimeout(Self.patience) { _ = fractions.next() }
      try Coroutine.checkCancellation()
    }
  }

  /// Takes the bar away.
  private func clear() {
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

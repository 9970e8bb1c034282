// SPDX-License-Identifier: Apache-2.0

import CGD
import Coroutines
import ExampleSupport
import Glibc

@main
struct ContactSheet {
  static let usage = """
    usage: contact-sheet [--check] [--output FILE] [--title TEXT] [--columns N] [--cell N] [--jobs N] DIR

    Decodes and scales the pictures of a directory, several at a time, and puts them on one sheet, a PNG.

      --output FILE   where to put it (default: contact-sheet.png)
      --title TEXT    what stands above (default: the directory)
      --columns N     pictures in a row (default: 6)
      --cell N        pixels of a thumbnail's longer side (default: 200)
      --jobs N        pictures decoded at a time (default: 4)
      --check         read the sheet again, and look whether the pictures are on it
    """

  private struct Arguments {
    var directory: String?
    var output = "contact-sheet.png"
    var title: String?
    var columns = 6
    var cell = 200
    var jobs = 4
    var isCheck = false

    init() {
      var words = CommandLine.arguments.dropFirst()
      while let word = words.popFirst() {
        func value() -> String {
          guard let value = words.popFirst() else {
            stop("\(word) needs a value\n\(usage)", status: 2)
          }
          return value
        }
        func number(_ range: ClosedRange<Int>) -> Int {
          let text = value()
          guard let number = Int(text), range.contains(number) else {
            stop("\(word) takes \(range.lowerBound) to \(range.upperBound), not \(text)", status: 2)
          }
          return number
        }
        switch word {
        case "--help", "-h":
          print(usage)
          exit(0)
        case "--check": isCheck = true
        case "--output": output = value()
        case "--title": title = value()
        case "--columns": columns = number(1...50)
        case "--cell": cell = number(16...1000)
        case "--jobs": jobs = number(1...64)
        case _ where directory == nil && !word.hasPrefix("-"): directory = word
        default: stop("what is \(word)?\n\(usage)", status: 2)
        }
      }
    }
  }

  static func main() {
    let arguments = Arguments()
    guard let directory = arguments.directory else { stop("which directory?\n\(usage)", status: 2) }
    example_silence_gd()
    Checks.run(limit: 120) { checks in
      try runBlocking { try run(arguments, directory, checks) }
    }
  }

  private static func run(
    _ arguments: Arguments,
    _ directory: String,
    _ checks: Checks
  ) throws {
    let album = try Album(directory)
    let start = ContinuousClock.now
    let found = try album.thumbnails(cell: arguments.cell, jobs: arguments.jobs)
    let thumbnails = found.compactMap { $0 }
    print("\(thumbnails.count) pictures decoded and scaled in \(ContinuousClock.now - start)")
    checks.expect(thumbnails.count == album.count, "each of \(album.count) files is a picture")
    checks.expect(Image.prepareFonts(), "there is a font for the captions")

    let sheet = Sheet(columns: arguments.columns, cell: arguments.cell)
    let (output, title) = (arguments.output, arguments.title ?? directory)
    let bytes = try offload { sheet.draw(thumbnails, title: title)?.png() }
    let written = try offload { bytes.map { write($0, to: output) } ?? false }
    let size = sheet.size(thumbnails.count)
    checks.expect(written, "\(output) is written, \(size.width) × \(size.height)")
    if arguments.isCheck { try check(output, sheet, thumbnails, checks) }
  }

  private static func write(_ bytes: [UInt8], to path: String) -> Bool {
    guard let file = fopen(path, "wb") else { return false }
    let count = fwrite(bytes, 1, bytes.count, file)
    return fclose(file) == 0 && count == bytes.count
  }

  /// Reads the sheet as anybody would, and compares each picture on it with the one that was put there.
  private static func check(
    _ path: String,
    _ sheet: Sheet,
    _ thumbnails: [Thumbnail],
    _ checks: Checks
  ) throws {
    guard let image = try offload({ Image.read(path) }) else {
      return checks.expect(false, "the sheet is a picture")
    }
    let size = sheet.size(thumbnails.count)
    checks.expect(image.width == size.width && image.height == size.height, "it has its size")
    let wrong = thumbnails.enumerated().filter { number, thumbnail in
      let origin = sheet.origin(number)
      let (left, top) = (
        origin.x + (sheet.cell - thumbnail.image.width) / 2,
        origin.y + (sheet.cell * 3 / 4 - thumbnail.image.height) / 2
      )
      var colors: Set<Int> = []
      for y in 0..<thumbnail.image.height {
        for x in 0..<thumbnail.image.width {
          let color = image.color(x: left + x, y: top + y)
          if color != thumbnail.image.color(x: x, y: y) { return true }
          colors.insert(color)
        }
      }
      return colors.count < 16
    }
    checks.expect(wrong.isEmpty, "all pictures are on it, pixel by pixel, and none is blank")
  }
}

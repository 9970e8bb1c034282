// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Makes lines out of bytes that come in pieces.
struct LineSplitter {
  private var unfinished: [UInt8] = []

  /// The lines that these bytes complete, without their ends.
  mutating func split(_ data: Data) -> [String] {
    var lines: [String] = []
    var rest = data[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      unfinished.append(contentsOf: rest[..<end])
      if unfinished.last == UInt8(ascii: "\r") { unfinished.removeLast() }
      lines.append(String(decoding: unfinished, as: UTF8.self))
      unfinished.removeAll(keepingCapacity: true)
      rest = rest[rest.index(after: end)...]
    }
    unfinished.append(contentsOf: rest)
    return lines
  }

  /// What came after the last end of a line.
  var rest: String? {
    unfinished.isEmpty ? nil : String(decoding: unfinished, as: UTF8.self)
  }
}

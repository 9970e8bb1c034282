// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What the own server has to show.
struct Gallery: Sendable {
  /// A file that can be asked for.
  struct Exhibit: Sendable {
    let name: [UInt8]
    let content: Content
  }

  enum Content: Sendable {
    /// Drawn when it is asked for.
    case drawn(@Sendable () -> Picture)
    case file(BytePath)
  }

  /// In the order of the index page.
  let exhibits: [Exhibit]

  /// Pictures to be drawn.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - side: Pixels of the longer side.
  init(pictures count: Int, side: Int) {
    exhibits = (0..<count).map { number in
      let (name, draw) = Motif.picture(number, side: side)
      return Exhibit(name: Array(name.utf8), content: .drawn(draw))
    }
  }

  /// The regular files of a directory, those with a leading dot left out; blocks.
  ///
  /// - Throws: `Problem`.
  init(directory path: BytePath) throws {
    let directory = try Directory(reading: path, followsLink: true)
    exhibits = directory.entries.map(\.name).filter { $0.first != UInt8(ascii: ".") }
      .filter { name in
        var status = stat()
        return path.appending(name).withCString { lstat($0, &status) } == 0
          && status.st_mode & S_IFMT == S_IFREG
      }
      .sorted { $0.lexicographicallyPrecedes($1) }
      .map { Exhibit(name: $0, content: .file(path.appending($0))) }
  }

  /// A page with a link to each.
  var indexPage: String {
    var page = "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Gallery</title>\n<ul>\n"
    for exhibit in exhibits {
      let label = Self.escaped(String(decoding: exhibit.name, as: UTF8.self))
      page += "<li><a href=\"\(Self.address(exhibit.name))\">\(label)</a>\n"
    }
    return page + "</ul>\n"
  }

  /// A name as a relative address: all but the plainest characters as `%XX`.
  ///
  /// With "./" in front, since a name may have a colon.
  static func address(_ name: [UInt8]) -> String {
    name.reduce(into: "./") { text, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        text += "%" + (byte < 16 ? "0" : "") + digits
      }
    }
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.append(character)
      }
    }
  }
}

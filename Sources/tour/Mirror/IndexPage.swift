// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPServer

/// A file to fetch.
struct Link: Sendable, Hashable {
  /// The name that it gets here.
  let name: BytePath
  let url: URL
}

/// Finds the files that a page links to.
enum IndexPage {
  /// The files beside the page, in the order of the page, each once.
  ///
  /// Left out is the page itself, what lies elsewhere, directories, addresses with a query, and names that are none for a file here
  /// or begin with a dot: a server must not choose where its files go.
  static func links(in page: [UInt8], at base: URL) -> [Link] {
    var seen: Set<BytePath> = []
    return references(in: page).compactMap { link($0, base) }.filter {
      seen.insert($0.name).inserted
    }
  }

  private static func link(_ reference: String, _ base: URL) -> Link? {
    guard let url = URL(string: reference, relativeTo: base)?.absoluteURL,
      let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      let home = URLComponents(url: base, resolvingAgainstBaseURL: true),
      parts.scheme?.lowercased() == home.scheme?.lowercased(),
      parts.host?.lowercased() == home.host?.lowercased(), parts.port == home.port,
      parts.query == nil, parts.user == nil,
      parts.percentEncodedPath != home.percentEncodedPath,
      directory(parts.percentEncodedPath) == directory(home.percentEncodedPath)
    else { return nil }
    let last = parts.percentEncodedPath.utf8.split(
      separator: UInt8(ascii: "/"),
      omittingEmptySubsequences: false
    ).last
    guard let name = last.flatMap({ HTTPPath.decoded($0) }), !name.isEmpty, name.count < 250,
      name.first != UInt8(ascii: "."), !name.contains(0), !name.contains(UInt8(ascii: "/"))
    else { return nil }
    var plain = parts
    plain.fragment = nil
    return plain.url.map { Link(name: BytePath(name), url: $0) }
  }

  private static func directory(_ path: String) -> Substring {
    let end = path.lastIndex(of: "/")
    return end.map { path[...$0] } ?? "/"
  }

  /// The values of all attributes `href`.
  ///
  /// No more of HTML is understood than that needs: one in a comment counts, too.
  static func references(in page: [UInt8]) -> [String] {
    var found: [String] = []
    var rest = page[...]
    let wanted = Array("href".utf8)
    while rest.count > wanted.count {
      guard rest.prefix(4).elementsEqual(wanted, by: { $0 | 0x20 == $1 }) else {
        rest = rest.dropFirst()
        continue
      }
      rest = rest.dropFirst(4).drop(while: isSpace)
      guard rest.first == UInt8(ascii: "=") else { continue }
      rest = rest.dropFirst().drop(while: isSpace)
      let value: ArraySlice<UInt8>
      if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
        value = rest.dropFirst().prefix { $0 != quote }
      } else {
        value = rest.prefix { !isSpace($0) && $0 != UInt8(ascii: ">") }
      }
      rest = rest[value.endIndex...]
      found.append(unescaped(String(decoding: value, as: UTF8.self)))
    }
    return found
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(byte)
  }

  private static func unescaped(_ text: String) -> String {
    let names = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'")]
    // The ampersand last, so that nothing is resolved twice.
    return (names + [("&#38;", "&"), ("&amp;", "&")]).reduce(text) {
      $0.replacingOccurrences(of: $1.0, with: $1.1)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

/// A request without its body.
package struct HTTPRequestHead: Sendable, Hashable {
  /// In capital letters: "GET".
  package let method: String
  /// As it was sent: "/a%20b?c=d"; it begins with a slash, or is "*" of OPTIONS.
  package let target: String
  /// True for HTTP/1.1 and what later versions with a 1 before the point may come; false for HTTP/1.0.
  package let isVersion11: Bool
  /// The header fields.
  package let headers: HTTPHeaders
  /// How the body's end is found.
  package let framing: HTTPBodyFraming
  /// The client wants to use the connection again.
  package let keepsAlive: Bool
  /// The client waits for "100 Continue" before it sends the body.
  package let expectsContinue: Bool

  /// The target without its query, not decoded.
  package var path: String { String(target.prefix { $0 != "?" }) }

  /// What follows the target's question mark, not decoded; nil if there is none.
  package var query: String? {
    target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
  }

  /// The parts of the path between slashes, decoded.
  ///
  /// Nil if they cannot be names of files: if one of them is ".", "..", or has a slash, a NUL or a wrong escape.
  package var pathComponents: [[UInt8]]? {
    var components: [[UInt8]] = []
    for part in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true) {
      guard let name = HTTPPath.decoded(part), name != Array(".".utf8),
        name != Array("..".utf8), !name.contains(0), !name.contains(UInt8(ascii: "/"))
      else { return nil }
      components.append(name)
    }
    return components
  }
}

/// How the end of a request's body is found.
package enum HTTPBodyFraming: Sendable, Hashable {
  /// After so many bytes; 0 if there is no body.
  case length(Int)
  /// Chunks tell.
  case chunked
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO

/// A web site in this process: HTTP on a port of 127.0.0.1, just enough of it for a crawler.
final class Site {
  /// The links of each page.
  private let pages: [String: [String]]
  private let listener: StreamListener
  /// How often each page was asked for.
  private(set) var hits: [String: Int] = [:]

  init(_ pages: [String: [String]]) throws {
    self.pages = pages
    listener = try StreamListener(on: .loopback(port: 0))
  }

  var address: SocketAddress { listener.address }

  /// Answers until `close`; a coroutine for each connection.
  func serve() throws {
    try withCoroutineScope { scope in
      for stream in listener.connections {
        scope.launch {
          defer { stream.close() }
          try self.answer(stream)
        }
      }
    }
  }

  func close() { listener.close() }

  private func answer(_ stream: ByteStream) throws {
    let reader = BufferedReader(stream)
    guard let request = try reader.readLine(limit: 1000) else { return }
    while let line = try reader.readLine(limit: 1000), !line.isEmpty {}  // its header fields
    let path = request.split(separator: " ").dropFirst().first.map(String.init) ?? "/"
    hits[path, default: 0] += 1
    // A page that never comes: the connection stays open until the other end has had enough.
    if path == "/slow" {
      _ = try reader.peek(1)
      return
    }
    guard let links = pages[path] else {
      return try stream.write("HTTP/1.0 404 Not Found\r\n\r\n")
    }
    let body = links.map { "<a href=\"\($0)\">\n" }.joined()
    try stream.write("HTTP/1.0 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }
}

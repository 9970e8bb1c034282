// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A request as the server got it.
package struct HTTPTestRequest: Sendable {
  /// What is asked for: `GET`, `POST` or another.
  package let method: String
  /// The path, without the query.
  package let path: String
  /// What follows the question mark, if there is one.
  package let query: String?
  /// The header fields; names in lower case.
  package let headers: [String: String]
  /// The body, with the transfer coding taken off.
  package let body: Data

  /// The client closes the connection after this.
  var wantsClose: Bool { headers["connection"]?.lowercased() == "close" }
}

/// One connection, read in lines and in bytes.
///
/// Used by its own thread only.
final class HTTPTestConnection {
  let socket: Int32
  let state: HTTPTestState
  /// Another request may come.
  var isUsable = true
  private var buffer: [UInt8] = []

  init(_ socket: Int32, _ state: HTTPTestState) {
    self.socket = socket
    self.state = state
  }

  /// The next request; nil when the client has closed, or sends something else.
  func nextRequest() -> HTTPTestRequest? {
    guard let start = line() else { return nil }
    let words = start.split(separator: " ")
    guard words.count == 3 else { return nil }
    var headers: [String: String] = [:]
    while let field = line(), !field.isEmpty {
      guard let colon = field.firstIndex(of: ":") else { return nil }
      headers[field[..<colon].lowercased()] =
        field[field.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    if headers["expect"]?.lowercased() == "100-continue" {
      try? send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
    guard let body = body(headers) else { return nil }
    let target = words[1].split(separator: "?", maxSplits: 1)
    return HTTPTestRequest(
      method: String(words[0]),
      path: String(target[0]),
      query: target.count > 1 ? String(target[1]) : nil,
      headers: headers,
      body: body
    )
  }

  private func body(_ headers: [String: String]) -> Data? {
    if headers["transfer-encoding"]?.lowercased() == "chunked" {
      var body = Data()
      while let head = line(), let size = Int(head, radix: 16) {
        guard let chunk = bytes(size), line() != nil else { return nil }
        if size == 0 { return body }
        body.append(chunk)
      }
      return nil
    }
    return bytes(headers["content-length"].flatMap { Int($0) } ?? 0)
  }

  /// A line, without its end.
  private func line() -> String? {
    var searched = 0
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        var line = buffer[..<end]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        defer { buffer.removeSubrange(...end) }
        return String(decoding: line, as: UTF8.self)
      }
      searched = buffer.count
      guard fill() else { return nil }
    }
  }

  private func bytes(_ count: Int) -> Data? {
    while buffer.count < count {
      guard fill() else { return nil }
    }
    defer { buffer.removeSubrange(..<count) }
    return Data(buffer[..<count])
  }

  private func fill() -> Bool {
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(socket, &block, block.count, 0)
      if count > 0 {
        buffer.append(contentsOf: block[..<count])
        return true
      }
      if count == 0 || errno != EINTR { return false }
    }
  }

  /// Sends all of it; blocks while the client does not read.
  ///
  /// - Throws: If the client has gone.
  func send(_ data: Data) throws {
    try data.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = Sockets.send(socket, UnsafeRawBufferPointer(rebasing: bytes[sent...]))
        if count < 0 {
          if errno == EINTR { continue }
          throw HTTPTestClientGone()
        }
        sent += count
        state.update { $0.counts.sentBytes += count }
      }
    }
  }

  /// The client has closed its connection.
  var clientIsGone: Bool {
    var byte: UInt8 = 0
    let count = recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
  }
}

/// The client has closed its connection in the middle of an answer.
package struct HTTPTestClientGone: Error {}

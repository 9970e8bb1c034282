// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the server does with the requests for a path.
package struct HTTPTestBehaviour: Sendable {
  /// Answers a request, on the connection's thread.
  let answer: @Sendable (HTTPTestExchange) throws -> Void

  /// Anything that a test can write.
  package init(_ answer: @escaping @Sendable (HTTPTestExchange) throws -> Void) {
    self.answer = answer
  }

  // MARK: - Good ones

  /// A status with a body and its length.
  package static func status(
    _ status: Int,
    body: Data = Data(),
    headers: [String: String] = [:]
  ) -> Self {
    Self { try $0.respond(status, headers: headers, body: body) }
  }

  /// 200, with this body.
  package static func body(_ body: Data, headers: [String: String] = [:]) -> Self {
    .status(200, body: body, headers: headers)
  }

  /// 200, with this text.
  package static func text(_ text: String) -> Self {
    .body(Data(text.utf8), headers: ["Content-Type": "text/plain; charset=utf-8"])
  }

  /// A redirection to another address or path.
  package static func redirect(to location: String, status: Int = 302) -> Self {
    .status(status, headers: ["Location": location])
  }

  /// 200, with the request's method in the field `X-Method` and its body as the body.
  package static let echo = Self {
    try $0.respond(200, headers: ["X-Method": $0.request.method], body: $0.request.body)
  }

  /// 200, or the part that the field `Range` asks for (206; 416 if there is none).
  ///
  /// `If-Range` is heeded.
  ///
  /// - Parameters:
  ///   - body: The whole.
  ///   - tag: The entity tag, with its quotation marks.
  ///   - limit: Bytes of body after which the connection is closed, finished or not; nil for none.
  /// - Returns: The behaviour.
  package static func ranges(
    of body: Data,
    tag: String = "\"1\"",
    closingAfter limit: Int? = nil
  ) -> Self {
    Self { exchange in
      var headers = ["ETag": tag, "Accept-Ranges": "bytes"]
      var part = body[...]
      var status = 200
      let condition = exchange.request.headers["if-range"]
      if let range = exchange.request.headers["range"], condition == nil || condition == tag {
        let bounds = range.dropFirst("bytes=".count)
          .split(separator: "-", omittingEmptySubsequences: false)
        guard let first = bounds.first.flatMap({ Int($0) }), first < body.count else {
          return try exchange.respond(416, headers: ["Content-Range": "bytes */\(body.count)"])
        }
        let last = min(bounds.last.flatMap { Int($0) } ?? .max, body.count - 1)
        headers["Content-Range"] = "bytes \(first)-\(last)/\(body.count)"
        part = body[(body.startIndex + first)...(body.startIndex + last)]
        status = 206
      }
      headers["Content-Length"] = "\(part.count)"
      try exchange.sendHead(status, headers: headers)
      try exchange.send(Data(part.prefix(limit ?? .max)))
      if let limit, limit < part.count { exchange.closeConnection() }
    }
  }

  // MARK: - Slow ones

  /// The behaviour, once the gate lets it through.
  package static func after(_ gate: HTTPTestGate, _ behaviour: Self) -> Self {
    Self {
      try $0.wait(at: gate)
      try behaviour.answer($0)
    }
  }

  /// 200, and the chunks, each of which waits at the gate first.
  package static func chunks(_ chunks: [String], each gate: HTTPTestGate) -> Self {
    Self { exchange in
      try exchange.sendHead(200, headers: ["Transfer-Encoding": "chunked"])
      for chunk in chunks {
        try exchange.wait(at: gate)
        try exchange.sendChunk(Data(chunk.utf8))
      }
      try exchange.sendChunk(Data())
    }
  }

  /// No answer, until the client goes.
  package static let silent = Self { try $0.waitForClientToGo() }

  // MARK: - Bad ones

  /// The connection is reset instead of an answer.
  package static let reset = Self { $0.resetConnection() }

  /// The head promises the whole body, and the connection is closed after a part of it.
  package static func truncated(_ body: Data, after count: Int) -> Self {
    Self { exchange in
      try exchange.sendHead(200, headers: ["Content-Length": "\(body.count)"])
      try exchange.send(body.prefix(count))
      exchange.closeConnection()
    }
  }

  /// A chunked body whose last chunk never comes: the connection is closed before it.
  package static func truncatedChunks(_ chunks: [String]) -> Self {
    Self { exchange in
      try exchange.sendHead(200, headers: ["Transfer-Encoding": "chunked"])
      for chunk in chunks { try exchange.sendChunk(Data(chunk.utf8)) }
      exchange.closeConnection()
    }
  }

  /// Each request the next behaviour; the last one for all that follow.
  package static func inTurn(_ behaviours: Self...) -> Self {
    let turn = Turn()
    return Self { try behaviours[min(turn.next(), behaviours.count - 1)].answer($0) }
  }

  private final class Turn: Sendable {
    private let number = Atomic(0)

    func next() -> Int { number.add(1, ordering: .relaxed).oldValue }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What the threads of a server share.
final class HTTPTestState: @unchecked Sendable {
  // SAFETY: `content` is only touched under the condition's lock.

  struct Content {
    var routes: [String: HTTPTestBehaviour]
    var counts = HTTPTestServer.Counts()
    var requests: [HTTPTestRequest] = []
    var connections: Set<Int32> = []
    var isClosed = false
  }

  private let condition = NSCondition()
  private var content: Content

  init(routes: [String: HTTPTestBehaviour]) {
    content = Content(routes: routes)
  }

  func look<Result>(_ body: (Content) -> Result) -> Result {
    condition.lock()
    defer { condition.unlock() }
    return body(content)
  }

  func update(_ body: (inout Content) -> Void) {
    condition.lock()
    body(&content)
    condition.broadcast()
    condition.unlock()
  }

  func wait(until isMet: (Content) -> Bool) -> Bool {
    let deadline = Date(timeIntervalSinceNow: 300)
    condition.lock()
    defer { condition.unlock() }
    while !isMet(content) {
      if !condition.wait(until: deadline) { return isMet(content) }
    }
    return true
  }

  /// Ends all connections; their threads close them.
  func closeAll() {
    update { content in
      content.isClosed = true
      for socket in content.connections { _ = shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  /// Serves a connection on a thread of its own.
  func serve(_ socket: Int32) {
    var isRefused = false
    update { content in
      isRefused = content.isClosed
      content.counts.accepted += 1
      content.counts.open += 1
      content.connections.insert(socket)
    }
    if isRefused { return end(socket) }
    Thread.detachNewThread {
      let connection = HTTPTestConnection(socket, self)
      while connection.isUsable, let request = connection.nextRequest() {
        self.answer(request, on: connection)
      }
      self.end(socket)
    }
  }

  private func answer(_ request: HTTPTestRequest, on connection: HTTPTestConnection) {
    var behaviour = HTTPTestBehaviour.status(404)
    update { content in
      content.requests.append(request)
      content.counts.active += 1
      if let known = content.routes[request.path] { behaviour = known }
    }
    var isAbandoned = false
    do {
      try behaviour.answer(HTTPTestExchange(request, connection))
    } catch {
      // The client has gone; that is what the test wanted, or it will notice.
      isAbandoned = true
      connection.isUsable = false
    }
    if request.wantsClose { connection.isUsable = false }
    update { content in
      content.counts.active -= 1
      if isAbandoned { content.counts.abandoned += 1 }
    }
  }

  private func end(_ socket: Int32) {
    // In this order: the number of a closed socket may be another connection's.
    update { content in
      content.connections.remove(socket)
      close(socket)
      content.counts.open -= 1
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import Foundation

/// An HTTP/1.1 server on the loopback interface that behaves as well or as badly as a test wants.
///
/// ```swift
/// let gate = HTTPTestGate()
/// let server = try HTTPTestServer(routes: [
///   "/": .text("hello"),
///   "/slow": .chunks(["one", "two"], each: gate),  // a chunk whenever the test opens the gate
///   "/short": .truncated(body, after: 100),
/// ])
/// let (data, _) = try URLSession.shared.co.data(from: server.url("/"))
/// #expect(server.requests.count == 1)
/// ```
///
/// It takes any free port. One thread accepts, and each connection has a thread of its own that serves
/// its requests one after the other (connections are kept alive). The server lives as long as this
/// object: then all is closed.
///
/// Nothing in it waits for time to pass: what is slow waits for an `HTTPTestGate` that the test opens,
/// or for the client to go away. The methods that wait block their thread and give up after ten
/// seconds; a coroutine calls them through `offload`.
package final class HTTPTestServer: Sendable {
  private let state: HTTPTestState
  private let listener: Int32
  private let stopPipe: (read: Int32, write: Int32)
  private let hasStopped = DispatchSemaphore(value: 0)

  /// The port it listens on.
  package let port: UInt16

  /// Starts a server.
  ///
  /// - Parameter routes: What to do at each path, without the query. Other paths get a 404.
  /// - Throws: `POSIXError` if the system refuses a socket.
  package init(routes: [String: HTTPTestBehaviour] = [:]) throws {
    (listener, port) = try Sockets.listen()
    stopPipe = try Sockets.pipe()
    state = HTTPTestState(routes: routes)
    let (state, listener, stop, hasStopped) = (state, listener, stopPipe.read, hasStopped)
    Thread.detachNewThread {
      while let connection = Sockets.accept(listener, unless: stop) {
        state.serve(connection)
      }
      close(listener)
      close(stop)
      hasStopped.signal()
    }
  }

  deinit {
    state.closeAll()
    close(stopPipe.write)
    // From here on nobody listens at the port.
    hasStopped.wait()
  }

  /// Changes what happens at a path, from the next request on.
  package func route(_ path: String, _ behaviour: HTTPTestBehaviour) {
    state.update { $0.routes[path] = behaviour }
  }

  /// The address of a path (and query) of this server.
  package func url(_ path: String = "/") -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
      preconditionFailure("\(path) makes no URL.")
    }
    return url
  }

  /// What the server has counted until now.
  package struct Counts: Sendable {
    /// Connections accepted.
    package var accepted = 0
    /// Connections open now, idle ones included.
    package var open = 0
    /// Requests whose answers are being made now.
    package var active = 0
    /// Answers that were left off because the client had closed its connection.
    package var abandoned = 0
    /// Bytes handed to the system, heads included.
    package var sentBytes = 0
  }

  /// What the server has counted until now.
  package var counts: Counts { state.look { $0.counts } }

  /// All requests whose heads and bodies have come, in order.
  package var requests: [HTTPTestRequest] { state.look { $0.requests } }

  /// Blocks the calling thread until the counts are as wanted; at most ten seconds.
  ///
  /// - Parameter condition: What to wait for.
  /// - Returns: False if it did not come.
  package func wait(until condition: @escaping (Counts) -> Bool) -> Bool {
    state.wait { condition($0.counts) }
  }
}

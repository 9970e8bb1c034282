// SPDX-License-Identifier: Apache-2.0

import Coroutines
package import CoroutinesIO

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A small server for HTTP/1.1 and HTTP/1.0: a coroutine for each connection.
///
/// ```swift
/// let server = try HTTPServer { request in .text("You asked for \(request.head.target).\n") }
/// launch { try server.run() }
/// print(server.address)
/// ```
///
/// It is used on one scheduler: the one that `run` is called on, where the handler runs, too. For a server on
/// several threads make one for each, with `reusesPort`.
///
/// It is for tools and tests. There is no TLS, no compression and no cache; requests on one connection are
/// answered one after the other.
package final class HTTPServer {
  /// Answers a request; may park.
  ///
  /// What it throws becomes 500, unless it is an `HTTPRefusal`.
  package typealias Handler = (HTTPRequest) throws -> HTTPResponse

  /// Where it listens, with the port that the system chose.
  package var address: SocketAddress { listener.address }
  /// Connections that are being served.
  package var connectionCount: Int { connections.count }

  private let listener: StreamListener
  private let limits: HTTPLimits
  private let log: (HTTPServerEvent) -> Void
  private let handler: Handler
  private var connections: [ObjectIdentifier: HTTPConnection] = [:]
  private var scope: CoroutineScope?
  private let end = Promise<Void>()
  private var isStopping = false

  /// Begins to listen; `run` begins to serve.
  ///
  /// - Parameters:
  ///   - address: Where; port 0 for any that is free.
  ///   - limits: What clients may ask for.
  ///   - reusesPort: Other listeners may have the same port.
  ///   - log: Is told what happens.
  ///   - handler: Answers the requests.
  /// - Throws: `IOError`, with `EADDRINUSE` if somebody else has the address.
  package init(
    on address: SocketAddress = .loopback(port: 0),
    limits: HTTPLimits = HTTPLimits(),
    reusesPort: Bool = false,
    log: @escaping (HTTPServerEvent) -> Void = { _ in },
    handler: @escaping Handler
  ) throws {
    listener = try StreamListener(on: address, reusesPort: reusesPort)
    self.limits = limits
    self.log = log
    self.handler = handler
  }

  /// Serves until `stop` is called; parks meanwhile.
  ///
  /// To be called once.
  ///
  /// *Cancellation:* closes the listener and breaks off all connections.
  ///
  /// - Throws: `IOError` if the listener fails; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  package func run() throws {
    defer {
      listener.close()
      scope = nil
      // Those that were cancelled before they began.
      connections = [:]
      end.fulfill(())
    }
    try withCoroutineScope { scope in
      self.scope = scope
      let permits = CoroutineSemaphore(permits: limits.connections)
      while !isStopping {
        try permits.acquire()
        guard let stream = try accept() else { break }
        let connection = HTTPConnection(stream, limits, handler, log)
        connections[ObjectIdentifier(connection)] = connection
        scope.launch(name: "connection of \(stream.peer?.description ?? "somebody")") {
          defer {
            self.connections[ObjectIdentifier(connection)] = nil
            permits.release()
          }
          connection.serve()
        }
      }
    }
    try Coroutine.checkCancellation()
  }

  /// The next connection; nil if there will be none.
  private func accept() throws -> ByteStream? {
    while !isStopping {
      do {
        return try listener.accept()
      } catch let error as IOError {
        if isStopping { break }
        // Descriptors come back as connections end; the next one waits with the system meanwhile.
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.code) else { throw error }
        try Coroutine.sleep(for: .milliseconds(10))
      }
    }
    return nil
  }

  /// Stops listening, lets the requests that have begun be answered, and parks until all connections are closed.
  ///
  /// To be called on the scheduler of `run`. No effect but the wait the second time.
  ///
  /// *Cancellation:* ends the wait; the server goes on stopping.
  ///
  /// - Parameter grace: What has not been answered then is broken off.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  package func stop(within grace: Duration = .seconds(5)) throws {
    isStopping = true
    listener.close()
    for connection in Array(connections.values) { connection.stop() }
    guard scope != nil || !connections.isEmpty else { return }
    do {
      try withTimeout(grace) { try end.await() }
    } catch is TimeoutError {
      scope?.cancel()
      try end.await()
    }
  }
}

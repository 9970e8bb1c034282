// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import CoroutineKernel
import Coroutines

/// Waits for connections of others.
///
/// ```swift
/// let listener = try StreamListener(on: .loopback(port: 0))
/// for stream in listener.connections {
///   launch {
///     while case let bytes = try stream.read(), !bytes.isEmpty { try stream.write(bytes) }
///   }
/// }
/// ```
public final class StreamListener: Sendable {
  private let descriptor: OwnedDescriptor

  /// Where it listens; with the port that the system chose, if 0 was asked for.
  public let address: SocketAddress

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - address: Where; port 0 for any that is free. A path must not exist.
  ///   - backlog: How many connections the system keeps that have not been accepted.
  ///   - reusesPort: Other listeners, of this process or of others, may have the same port; connections are
  ///     spread among them.
  /// - Throws: `IOError`, with `EADDRINUSE` if somebody else has the address.
  public init(on address: SocketAddress, backlog: Int = 1024, reusesPort: Bool = false) throws {
    let operation = "listening on"
    let subject = address.description
    var system = try address.systemAddress()
    let number = Int32(try IOError.check(cio_socket(address.family, 0), operation, subject))
    descriptor = OwnedDescriptor(takingOver: number)
    try IOError.check(cio_bind(number, &system, reusesPort ? 1 : 0), operation, subject)
    try IOError.check(cio_listen(number, Int32(clamping: backlog)), operation, subject)
    try IOError.check(cio_local_address(number, &system), operation, subject)
    self.address = SocketAddress(system) ?? address
  }

  /// Parks until there is a connection.
  ///
  /// Several coroutines may wait; each connection goes to one of them. A connection that was given up before it
  /// was accepted is passed over.
  ///
  /// *Cancellation:* ends the wait; no connection is lost.
  ///
  /// - Returns: The connection. Small writes are sent at once (`TCP_NODELAY`).
  /// - Throws: `IOError`: with `EMFILE` if there is no descriptor left, and the connection waits on; with `EBADF`
  ///   after `close`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func accept() throws -> ByteStream {
    while true {
      let seen = descriptor.edges(.reading)
      var peer = cio_address()
      let result = descriptor.use { cio_accept($0, &peer) }
      if result >= 0 {
        let number = Int32(truncatingIfNeeded: result)
        let address = SocketAddress(peer)
        if address?.port != nil { _ = cio_set_no_delay(number, 1) }
        return ByteStream(OwnedDescriptor(takingOver: number), isSocket: true, peer: address)
      }
      switch result {
      case -Int(cio_would_block):
        let outcome = try descriptor.wait(
          for: .reading,
          since: seen,
          deadline: nil,
          "StreamListener.accept()"
        )
        if case .failed(let code) = outcome { throw failure(code) }
      // The other end was gone, which is no reason to stop.
      case -Int(cio_interrupted), -Int(cio_connection_aborted): continue
      default: throw failure(Int32(-result))
      }
    }
  }

  private func failure(_ code: Int32) -> IOError {
    descriptor.error(code, "accepting on", address.description)
  }

  /// All connections as they come, until the listener is closed or the coroutine is cancelled.
  ///
  /// While there is no descriptor left for the next connection it waits, and tries again. Any other error ends
  /// it, too; `accept` says which.
  public var connections: some Sequence<ByteStream> {
    sequence(state: ()) { [self] _ in
      while true {
        do {
          return try accept()
        } catch let error as IOError where cio_is_shortage(error.code) != 0 {
          guard (try? Coroutine.sleep(for: .milliseconds(10))) != nil else { return nil }
        } catch {
          return nil
        }
      }
    }
  }

  /// Ends listening; who waits gets an `IOError` with `EBADF`.
  ///
  /// No effect the second time.
  ///
  /// Connections that have been accepted stay.
  public func close() { descriptor.close() }
}

// SPDX-License-Identifier: Apache-2.0

import CTLS
import Coroutines
import Glibc

/// What OpenSSL complained of.
struct TLSError: Error, CustomStringConvertible {
  let operation: String
  /// SSL_ERROR_SYSCALL and the like; 0 if no connection is concerned.
  let kind: Int32
  let code: Int32

  var description: String { "\(operation): SSL error \(kind), errno \(code)" }
}

/// What connections of one side have in common; never freed, since the program needs it to its end.
struct TLSContext: @unchecked Sendable {
  // SAFETY: OpenSSL counts references to a context, and locks it, itself.
  let pointer: OpaquePointer

  /// A server and the clients that trust it, with a key made for this run.
  static func makePair() throws -> (server: TLSContext, client: TLSContext) {
    func made<Value>(_ value: Value?) throws -> Value {
      guard let value else { throw TLSError(operation: "setting up", kind: 0, code: errno) }
      return value
    }
    let key = try made(example_make_key())
    let certificate = try made(example_make_certificate(key))
    let server = try made(SSL_CTX_new(TLS_server_method()))
    let client = try made(SSL_CTX_new(TLS_client_method()))
    guard SSL_CTX_use_certificate(server, certificate) == 1,
      SSL_CTX_use_PrivateKey(server, key) == 1, example_trust(client, certificate) == 1
    else { throw TLSError(operation: "setting up", kind: 0, code: errno) }
    return (TLSContext(pointer: server), TLSContext(pointer: client))
  }
}

/// A connection, used by one coroutine at a time through OpenSSL's synchronous calls.
final class TLSConnection {
  private let connection: OpaquePointer
  private let socket: Int32

  /// Takes over a connected socket, which blocks.
  init(_ context: TLSContext, socket: Int32) throws {
    guard let connection = SSL_new(context.pointer), SSL_set_fd(connection, socket) == 1 else {
      throw TLSError(operation: "SSL_new", kind: 0, code: errno)
    }
    self.connection = connection
    self.socket = socket
  }

  deinit {
    SSL_free(connection)
    close(socket)
  }

  /// Shakes hands as the server.
  func accept() throws { try check(SSL_accept(connection), "SSL_accept") }

  /// Shakes hands as a client who expects this name.
  func connect(to name: String) throws {
    SSL_set1_host(connection, name)
    try check(SSL_connect(connection), "SSL_connect")
  }

  /// At most so many bytes; none at the end.
  func read(upTo count: Int32) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(count))
    let result = SSL_read(connection, &bytes, count)
    if result <= 0, SSL_get_error(connection, result) == SSL_ERROR_ZERO_RETURN { return [] }
    try check(result, "SSL_read")
    return Array(bytes.prefix(Int(result)))
  }

  /// All of them.
  func write(_ bytes: [UInt8]) throws {
    try check(SSL_write(connection, bytes, Int32(bytes.count)), "SSL_write")
  }

  /// Says that no more will come.
  func finish() { SSL_shutdown(connection) }

  private func check(_ result: Int32, _ operation: String) throws {
    if result > 0 { return }
    let code = errno
    let kind = SSL_get_error(connection, result)
    // The queue of errors belongs to the thread, and so to all coroutines on it.
    ERR_clear_error()
    // The coroutine was cancelled in the middle of a call: that is what to tell, and no fault of the connection.
    if code == ECANCELED { throw CancellationError() }
    throw TLSError(operation: operation, kind: kind, code: code)
  }
}

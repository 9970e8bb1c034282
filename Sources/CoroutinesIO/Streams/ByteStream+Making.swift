// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import CoroutineKernel
import Coroutines

extension ByteStream {
  /// Connects to a server; parks until it has answered.
  ///
  /// *Cancellation:* ends the wait; nothing stays open.
  ///
  /// - Parameter address: Where it listens.
  /// - Returns: The connection. Small writes are sent at once (`TCP_NODELAY`).
  /// - Throws: `IOError`, with `ECONNREFUSED` if nobody listens there; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func connect(to address: SocketAddress) throws -> ByteStream {
    let operation = "connecting to"
    let subject = address.description
    var target = try address.systemAddress()
    let number = Int32(try IOError.check(cio_socket(address.family, 0), operation, subject))
    let descriptor = OwnedDescriptor(takingOver: number)
    do {
      let seen = descriptor.edges(.writing)
      let result = descriptor.use { cio_connect($0, &target) }
      // Interrupted, it goes on as well.
      if result == -Int(cio_in_progress) || result == -Int(cio_interrupted) {
        let outcome = try descriptor.wait(
          for: .writing,
          since: seen,
          deadline: nil,
          "ByteStream.connect(to:)"
        )
        if case .failed(let code) = outcome {
          throw IOError(code: code, operation: operation, subject: subject)
        }
        try IOError.check(descriptor.use { cio_connect_result($0) }, operation, subject)
      } else {
        try IOError.check(result, operation, subject)
      }
      if address.port != nil { _ = descriptor.use { cio_set_no_delay($0, 1) } }
      return ByteStream(descriptor, isSocket: true, peer: address)
    } catch {
      descriptor.close()
      throw error
    }
  }

  /// A pipe: what is written to the one is read from the other.
  ///
  /// - Returns: Its ends.
  /// - Throws: `IOError` if there is no descriptor left.
  public static func pipe() throws -> (reading: ByteStream, writing: ByteStream) {
    var ends: [Int32] = [-1, -1]
    try IOError.check(cio_pipe(&ends), "making a pipe")
    return (
      ByteStream(OwnedDescriptor(takingOver: ends[0]), isSocket: false, peer: nil),
      ByteStream(OwnedDescriptor(takingOver: ends[1]), isSocket: false, peer: nil)
    )
  }

  /// Two sockets that are connected to each other.
  ///
  /// - Returns: Both, which are alike.
  /// - Throws: `IOError` if there is no descriptor left.
  public static func pair() throws -> (ByteStream, ByteStream) {
    var ends: [Int32] = [-1, -1]
    try IOError.check(cio_socket_pair(&ends), "making a pair of sockets")
    return (
      ByteStream(OwnedDescriptor(takingOver: ends[0]), isSocket: true, peer: nil),
      ByteStream(OwnedDescriptor(takingOver: ends[1]), isSocket: true, peer: nil)
    )
  }
}

extension IOError {
  /// Throws what the system complained of.
  ///
  /// - Parameters:
  ///   - result: Not negative, or a negative error number.
  ///   - operation: What was being done.
  ///   - subject: What with.
  /// - Returns: The result.
  /// - Throws: `IOError`.
  @discardableResult
  static func check(_ result: Int, _ operation: String, _ subject: String? = nil) throws -> Int {
    if result >= 0 { return result }
    throw IOError(code: Int32(-result), operation: operation, subject: subject)
  }
}

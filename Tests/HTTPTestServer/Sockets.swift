// SPDX-License-Identifier: Apache-2.0

import CCoroutinesFoundation
import Foundation

/// The calls of the system that the server is made of.
enum Sockets {
  /// A socket that listens on a free port of the loopback interface.
  static func listen() throws -> (socket: Int32, port: UInt16) {
    #if canImport(Darwin)
    let listener = socket(AF_INET, SOCK_STREAM, 0)
    #elseif canImport(Musl)
    let listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)
    #else
    let listener = socket(
      AF_INET,
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
      0
    )
    #endif
    guard listener >= 0 else { throw currentError }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    // SAFETY: a sockaddr_in is what the calls take for this family, and the size is its own.
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && Foundation.listen(listener, 1024) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard status else {
      close(listener)
      throw currentError
    }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  static func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard ccf_pipe(&ends) == 0 else { throw currentError }
    return (ends[0], ends[1])
  }

  /// The next connection; nil once the other end of `stop` is closed.
  static func accept(_ listener: Int32, unless stop: Int32) -> Int32? {
    while true {
      var watched = [
        pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
        pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&watched, 2, -1) < 0, errno != EINTR { return nil }
      if watched[1].revents != 0 { return nil }
      guard watched[0].revents != 0 else { continue }
      // Programs that tests start must not hold connections open.
      let connection = ccf_accept(listener)
      guard connection >= 0 else { continue }
      var yes: Int32 = 1
      let size = socklen_t(MemoryLayout<Int32>.size)
      _ = setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, size)
      #if canImport(Darwin)
      _ = setsockopt(connection, SOL_SOCKET, SO_NOSIGPIPE, &yes, size)
      #endif
      return connection
    }
  }

  /// Sends what the system takes, without a signal if the other side is gone.
  static func send(_ socket: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
    Foundation.send(socket, bytes.baseAddress, bytes.count, 0)
    #else
    Foundation.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
  }

  /// Makes the next close of a socket a reset.
  static func resetOnClose(_ socket: Int32) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    _ = setsockopt(
      socket,
      SOL_SOCKET,
      SO_LINGER,
      &linger,
      socklen_t(MemoryLayout.size(ofValue: linger))
    )
  }

  private static var currentError: POSIXError {
    POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
  }
}

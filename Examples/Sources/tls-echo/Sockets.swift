// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Sockets of 127.0.0.1 that block, as synchronous code has them.
enum Sockets {
  static func listen() throws -> (socket: Int32, port: UInt16) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try withAddress(port: 0) { address, length in
      try check(Glibc.bind(listener, address, length), "bind")
    }
    try check(Glibc.listen(listener, 1024), "listen")
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutableBytes(of: &address) { bytes in
      // SAFETY: every address of a socket begins as a sockaddr does.
      let base = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
      try check(getsockname(listener, base, &length), "getsockname")
    }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  static func connect(port: UInt16) throws -> Int32 {
    let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    do {
      try withAddress(port: port) { address, length in
        try check(Glibc.connect(connection, address, length), "connect")
      }
    } catch {
      close(connection)
      throw error
    }
    return connection
  }

  private static func withAddress(
    port: UInt16,
    _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
  ) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    try withUnsafeBytes(of: &address) { bytes in
      // SAFETY: the bytes of a variable have an address; and as above.
      let base = bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self)
      try body(base, socklen_t(bytes.count))
    }
  }

  private static func check(_ result: Int32, _ operation: String) throws {
    if result < 0 { throw TLSError(operation: operation, kind: 0, code: errno) }
  }
}

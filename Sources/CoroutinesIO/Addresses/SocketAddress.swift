// SPDX-License-Identifier: Apache-2.0

package import CCoroutinesIO

/// Where a socket is, or what it is connected to.
public enum SocketAddress: Hashable, Sendable {
  /// An address of four bytes, as in 127.0.0.1, the first one in the highest bits; and a port.
  case ipv4(UInt32, port: UInt16)
  /// An address of sixteen bytes, and a port; for addresses of one link, the number of the interface.
  case ipv6(high: UInt64, low: UInt64, port: UInt16, scope: UInt32 = 0)
  /// A path of the file system; empty for a socket without one.
  case unix(path: String)

  /// This machine alone, with IPv4.
  ///
  /// - Parameter port: The port; 0 asks the system for a free one.
  /// - Returns: The address.
  public static func loopback(port: UInt16) -> SocketAddress { .ipv4(0x7f00_0001, port: port) }

  /// This machine alone, with IPv6.
  ///
  /// - Parameter port: The port; 0 asks the system for a free one.
  /// - Returns: The address.
  public static func loopback6(port: UInt16) -> SocketAddress { .ipv6(high: 0, low: 1, port: port) }

  /// Every address of this machine, with IPv4: for listeners that serve the network.
  ///
  /// - Parameter port: The port; 0 asks the system for a free one.
  /// - Returns: The address.
  public static func any(port: UInt16) -> SocketAddress { .ipv4(0, port: port) }

  /// An address written in digits; nil if it is none.
  ///
  /// - Parameters:
  ///   - digits: "127.0.0.1" or "::1".
  ///   - port: The port.
  public init?(_ digits: String, port: UInt16) {
    var address = cio_address()
    guard cio_parse(digits, port, &address) == 1, let parsed = SocketAddress(address) else {
      return nil
    }
    self = parsed
  }

  /// The port; nil for a path.
  public var port: UInt16? {
    switch self {
    case .ipv4(_, let port), .ipv6(_, _, let port, _): port
    case .unix: nil
    }
  }
}

extension SocketAddress: CustomStringConvertible {
  /// For people: "127.0.0.1:80", "[::1]:80", "/run/server.socket".
  public var description: String {
    switch self {
    case .ipv4(let address, let port):
      let bytes = [24, 16, 8, 0].map { String(address >> $0 & 255) }
      return "\(bytes.joined(separator: ".")):\(port)"
    case .ipv6(let high, let low, let port, let scope):
      return "[\(Self.digits(high, low))\(scope == 0 ? "" : "%\(scope)")]:\(port)"
    case .unix(let path):
      return path.isEmpty ? "unnamed socket" : path
    }
  }

  /// As RFC 5952 wants it: lower case, no leading zeros, the first of the longest rows of zeros left out.
  private static func digits(_ high: UInt64, _ low: UInt64) -> String {
    let groups = [high, low].flatMap { half in [48, 32, 16, 0].map { UInt16(half >> $0 & 0xffff) } }
    var longest = 0..<0
    var start = 0
    while start < groups.count {
      let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
      if end - start > longest.count, end - start > 1 { longest = start..<end }
      start = max(end, start) + 1
    }
    func text(_ range: Range<Int>) -> String {
      groups[range].map { String($0, radix: 16) }.joined(separator: ":")
    }
    if longest.isEmpty { return text(0..<8) }
    return text(0..<longest.lowerBound) + "::" + text(longest.upperBound..<8)
  }
}

extension SocketAddress {
  /// As the system has it.
  ///
  /// - Throws: `IOError` for a path that is too long for a socket.
  package func systemAddress() throws -> cio_address {
    var address = cio_address()
    switch self {
    case .ipv4(let bytes, let port):
      cio_make_ipv4(&address, (0..<4).map { UInt8(bytes >> (24 - 8 * $0) & 255) }, port)
    case .ipv6(let high, let low, let port, let scope):
      let bytes = [high, low].flatMap { half in (0..<8).map { UInt8(half >> (56 - 8 * $0) & 255) } }
      cio_make_ipv6(&address, bytes, port, scope)
    case .unix(let path):
      let result = cio_make_unix(&address, path)
      if result < 0 {
        throw IOError(code: Int32(-result), operation: "naming a socket", subject: path)
      }
    }
    return address
  }

  /// From the system's; nil for families that are not here.
  package init?(_ address: cio_address) {
    var address = address
    var bytes = [UInt8](repeating: 0, count: 16)
    cio_bytes(&address, &bytes)
    func number<Number: FixedWidthInteger>(_ range: Range<Int>) -> Number {
      bytes[range].reduce(0) { $0 << 8 | Number($1) }
    }
    switch cio_family_of(&address) {
    case cio_family_ipv4: self = .ipv4(number(0..<4), port: cio_port(&address))
    case cio_family_ipv6:
      self = .ipv6(
        high: number(0..<8),
        low: number(8..<16),
        port: cio_port(&address),
        scope: cio_scope(&address)
      )
    case cio_family_unix:
      var path = [CChar](repeating: 0, count: 256)
      cio_path(&address, &path)
      let end = path.firstIndex(of: 0) ?? path.count
      self = .unix(
        path: String(decoding: path[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      )
    default: return nil
    }
  }

  /// The family, for the system.
  package var family: cio_family_t {
    switch self {
    case .ipv4: cio_family_ipv4
    case .ipv6: cio_family_ipv6
    case .unix: cio_family_unix
    }
  }
}

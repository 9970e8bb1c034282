// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A path as the file system has it: any bytes but NUL, UTF-8 or not.
struct BytePath: Sendable, Hashable, Comparable {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// The path of an entry of this directory.
  func appending(_ name: [UInt8]) -> BytePath {
    var path = bytes
    path.reserveCapacity(bytes.count + 1 + name.count)
    if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
    path += name
    return BytePath(path)
  }

  /// The path as seen from `root`, a directory above it; the whole path if it is not below `root`.
  func relative(to root: BytePath) -> BytePath {
    guard bytes.count > root.bytes.count, bytes.starts(with: root.bytes) else { return self }
    let rest = bytes[root.bytes.count...]
    return BytePath(Array(rest.drop { $0 == UInt8(ascii: "/") }))
  }

  /// Calls `body` with the path as the C library wants it: with a NUL at the end.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
      for (index, byte) in bytes.enumerated() {
        buffer.initializeElement(at: index, to: CChar(bitPattern: byte))
      }
      buffer.initializeElement(at: bytes.count, to: 0)
      // SAFETY: the buffer holds at least the NUL, so it has an address.
      return body(UnsafePointer(buffer.baseAddress.unsafelyUnwrapped))
    }
  }

  static func < (one: BytePath, other: BytePath) -> Bool {
    one.bytes.lexicographicallyPrecedes(other.bytes)
  }
}

extension BytePath: CustomStringConvertible {
  /// The path in characters that are safe to print, and from which the bytes can be had back.
  ///
  /// A backslash is written `\\`. Each byte that is not part of valid UTF-8, and each byte of a
  /// control character, is written `\xHH`. Everything else stands for itself.
  var description: String {
    var text = ""
    var rest = bytes[...]
    while let first = rest.first {
      guard let scalar = Self.scalar(at: &rest) else {
        text += Self.escaped(first)
        rest = rest.dropFirst()
        continue
      }
      if scalar == "\\" {
        text += "\\\\"
      } else if scalar.properties.generalCategory == .control {
        for byte in String(scalar).utf8 { text += Self.escaped(byte) }
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// Takes the scalar at the front; takes nothing and returns nil if there is no valid one.
  private static func scalar(at rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
    var iterator = rest.prefix(4).makeIterator()
    var decoder = UTF8()
    guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
    rest = rest.dropFirst(UTF8.width(scalar))
    return scalar
  }

  private static func escaped(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return "\\x" + (byte < 16 ? "0" : "") + digits
  }
}

// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && canImport(Runtime)
/// Addresses in the form in which `Runtime.Backtrace` is decoded: the only public way to make one.
///
/// The format is that of the Swift project's document *Compact Backtrace Format*: a header, then for each address a
/// byte that says what follows (an absolute address that a function returns to, of so many bytes), then a zero; all
/// of it in base 64.
struct CompactBacktrace: Decoder {
  private let fields: [String: String]

  init(addresses: [UInt]) {
    // Version 0, addresses of 64 bits.
    var bytes: [UInt8] = [0x02]
    for address in addresses {
      // A return address, absolute, eight bytes, the highest first.
      bytes.append(0x2f)
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: UInt64(address) >> UInt64(shift)))
      }
    }
    bytes.append(0)
    #if arch(x86_64)
    let architecture = "x86_64"
    #elseif arch(arm64)
    let architecture = "arm64"
    #else
    let architecture = "unknown"
    #endif
    fields = ["architecture": architecture, "backtrace": Self.base64(bytes)]
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let value = (0..<3).reduce(0) { $0 << 8 | ($1 < group.count ? Int(group[start + $1]) : 0) }
      for digit in 0...group.count { text.append(digits[value >> (18 - 6 * digit) & 63]) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private struct Missing: Error {}

  // MARK: - Decoder

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Container<Key>(fields: fields))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Missing() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Missing() }

  private struct Container<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: [String: String]

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { fields.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }
    func decodeNil(forKey key: Key) -> Bool { !contains(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      guard let value = fields[key.stringValue] as? Value else { throw Missing() }
      return value
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type,
      forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw Missing() }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      throw Missing()
    }

    func superDecoder() throws -> any Decoder { throw Missing() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw Missing() }
  }
}
#endif

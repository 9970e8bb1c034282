// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Foundation

/// A `Decoder` for an array in JSON that comes in pieces: its container parks until the next element has come.
///
/// It cuts the stream into elements and leaves each of them to `JSONDecoder`.
final class StreamDecoder: Decoder, UnkeyedDecodingContainer {
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]
  let count: Int? = nil
  private(set) var currentIndex = 0

  private let pieces: ReceiveEnd<String>
  private var bytes: ArraySlice<UInt8> = []

  init(_ pieces: ReceiveEnd<String>) { self.pieces = pieces }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard try nextToken() == UInt8(ascii: "[") else { throw error("The document is no array.") }
    bytes.removeFirst()
    return self
  }

  /// True after the last element; parks until that is known.
  ///
  /// This is what `Array.init(from:)` asks.
  var isAtEnd: Bool {
    // A property cannot throw; what is wrong with the input is told by `decode`.
    guard let next = try? nextToken() else { return false }
    return next == UInt8(ascii: "]")
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    var element: [UInt8] = []
    var (depth, inString, isEscaped) = (0, false, false)
    let ends = [UInt8(ascii: ","), UInt8(ascii: "]")]
    _ = try nextToken()
    scan: while true {
      let byte = try peek()
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\") where inString: isEscaped = true
      case UInt8(ascii: "\""): inString.toggle()
      case _ where inString: break
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case _ where depth == 0 && ends.contains(byte): break scan
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      element.append(byte)
      bytes.removeFirst()
    }
    if try peek() == UInt8(ascii: ",") { bytes.removeFirst() }
    currentIndex += 1
    return try JSONDecoder().decode(type, from: Data(element))
  }

  /// The next byte that is no space.
  private func nextToken() throws -> UInt8 {
    while [UInt8(ascii: " "), UInt8(ascii: "\n")].contains(try peek()) { bytes.removeFirst() }
    return try peek()
  }

  /// The next byte; parks until there is one.
  private func peek() throws -> UInt8 {
    while true {
      if let byte = bytes.first { return byte }
      do {
        bytes = Array(try pieces.receive().utf8)[...]
      } catch ChannelError.closed {
        throw error("The input ended in element \(currentIndex).")
      }
    }
  }

  private func error(_ text: String) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: text))
  }

  // MARK: - What an array of elements needs not

  func decodeNil() throws -> Bool { false }

  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws
    -> KeyedDecodingContainer<Key>
  { throw error("Elements are decoded one by one.") }

  func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw error("Elements are decoded one by one.")
  }

  func superDecoder() throws -> any Decoder { throw error("Elements are decoded one by one.") }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw error("The document is no array.")
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw error("The document is no array.")
  }
}

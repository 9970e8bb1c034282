// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How values are stored.
enum JSON {
  static func encode(_ value: some Encodable) throws -> [UInt8] {
    try [UInt8](JSONEncoder().encode(value))
  }

  static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value {
    try Decoder().decode(type, bytes)
  }

  /// For several values, one after another.
  struct Decoder {
    private let decoder = JSONDecoder()

    func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value {
      try decoder.decode(type, from: Data(bytes))
    }
  }
}

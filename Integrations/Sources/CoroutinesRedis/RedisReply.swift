// SPDX-License-Identifier: Apache-2.0

import CHiredis

/// A reply of the server, copied out of hiredis' memory.
indirect enum RedisReply {
  case bytes([UInt8])
  case integer(Int)
  case list([RedisReply])
  case nothing
  /// The server's words.
  case error(String)

  init(_ reply: redisReply) {
    switch reply.type {
    case REDIS_REPLY_STRING, REDIS_REPLY_STATUS:
      self = .bytes([UInt8](Self.bytes(of: reply)))
    case REDIS_REPLY_ERROR:
      self = .error(String(decoding: Self.bytes(of: reply), as: UTF8.self))
    case REDIS_REPLY_INTEGER:
      self = .integer(Int(reply.integer))
    case REDIS_REPLY_ARRAY:
      self = .list(
        UnsafeBufferPointer(start: reply.element, count: reply.elements).map { element in
          element.map { RedisReply($0.pointee) } ?? .nothing
        }
      )
    default:
      self = .nothing
    }
  }

  private static func bytes(of reply: redisReply) -> UnsafeRawBufferPointer {
    // SAFETY: hiredis gives the length with the pointer; copied before the reply is freed.
    UnsafeRawBufferPointer(start: reply.str, count: reply.len)
  }

  var bytes: [UInt8]? {
    if case .bytes(let bytes) = self { bytes } else { nil }
  }

  var text: String? {
    bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  var integer: Int? {
    if case .integer(let number) = self { number } else { nil }
  }

  var list: [RedisReply]? {
    if case .list(let list) = self { list } else { nil }
  }
}

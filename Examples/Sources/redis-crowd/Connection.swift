// SPDX-License-Identifier: Apache-2.0

import CRedis
import Coroutines
import Glibc

/// A connection to the server, with hiredis' synchronous calls and nothing else.
final class Connection {
  private let raw: UnsafeMutablePointer<redisContext>

  /// Connects; parks until it is connected, for five seconds at most.
  init(_ address: Address) throws {
    guard
      let raw = redisConnectWithTimeout(address.host, address.port, timeval(tv_sec: 5, tv_usec: 0))
    else { throw RedisError(description: "no memory") }
    self.raw = raw
    // `deinit` runs although `init` throws: every property has its value.
    if raw.pointee.err != 0 { throw failure }
  }

  deinit {
    redisFree(raw)
  }

  /// It can take another command.
  ///
  /// After any error of the connection, and that is what a cancelled wait is to hiredis, it cannot.
  var isUsable: Bool { raw.pointee.err == 0 }

  /// Sends a command and parks until its reply is there.
  ///
  /// *Cancellation:* ends the wait, and the connection with it: the reply is still to come on it.
  ///
  /// - Parameter words: The command and its arguments.
  /// - Returns: The reply.
  /// - Throws: `RedisError`; `CancellationError`.
  @discardableResult
  func command(_ words: String...) throws -> Reply {
    let reply = withWords(words) { words, lengths in
      redisCommandArgv(raw, Int32(lengths.count), words, lengths)
    }
    guard let reply = reply?.assumingMemoryBound(to: redisReply.self) else {
      try Coroutine.checkCancellation()
      throw failure
    }
    defer { freeReplyObject(reply) }
    return try Reply(reply.pointee)
  }

  private var failure: RedisError {
    RedisError(description: withUnsafeBytes(of: &raw.pointee.errstr) { text($0) })
  }
}

/// Where the server is.
struct Address {
  let host: String
  let port: Int32
}

/// What the server, or the way to it, had to object.
struct RedisError: Error, CustomStringConvertible {
  let description: String
}

/// A reply of the server.
indirect enum Reply: Equatable {
  case text(String)
  case integer(Int)
  case list([Reply])
  case nothing

  /// - Throws: `RedisError`, if it is an error.
  init(_ reply: redisReply) throws {
    switch reply.type {
    case REDIS_REPLY_STRING, REDIS_REPLY_STATUS:
      self = .text(Self.text(of: reply))
    case REDIS_REPLY_INTEGER:
      self = .integer(Int(reply.integer))
    case REDIS_REPLY_ARRAY:
      self = try .list(
        UnsafeBufferPointer(start: reply.element, count: reply.elements).map { element in
          try element.map { try Reply($0.pointee) } ?? .nothing
        }
      )
    case REDIS_REPLY_NIL:
      self = .nothing
    default:
      throw RedisError(description: Self.text(of: reply))
    }
  }

  private static func text(of reply: redisReply) -> String {
    String(decoding: UnsafeRawBufferPointer(start: reply.str, count: reply.len), as: UTF8.self)
  }
}

/// Calls `body` with the words of a command as hiredis takes them; they last until it has returned.
func withWords<Result>(
  _ words: [String],
  _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>?, [Int]) -> Result
) -> Result {
  let copies = words.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  var pointers = copies.map { UnsafePointer($0) }
  return body(&pointers, words.map(\.utf8.count))
}

private func text(_ bytes: UnsafeRawBufferPointer) -> String {
  String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
}

// SPDX-License-Identifier: Apache-2.0

import CHiredis
import Glibc

/// hiredis with nothing around it: what the library is compared with.
final class Plain {
  private let raw: UnsafeMutablePointer<redisContext>

  init() {
    guard let host = getenv("REDIS_HOST"), let port = getenv("REDIS_PORT"),
      let raw = redisConnect(host, atoi(port)), raw.pointee.err == 0
    else { stop("no Redis server here: run this under with-redis.") }
    self.raw = raw
  }

  deinit { redisFree(raw) }

  /// A command, blocking; the reply goes to `look`.
  func command<Result>(_ words: [String], _ look: (redisReply) -> Result) -> Result {
    append(words)
    return reply(look)
  }

  /// A command whose reply is not looked at.
  func command(_ words: [String]) { command(words) { _ in } }

  func text(_ words: [String]) -> String? {
    command(words) { reply in reply.str.map { String(cString: $0) } }
  }

  /// Puts a command into the pipeline.
  func append(_ words: [String]) {
    let copies = words.map { $0.utf8CString }
    // SAFETY: the arrays stay alive, and where they are, until the call has returned: they are not empty, and so
    // lie in memory of their own.
    withExtendedLifetime(copies) {
      var pointers = copies.map { copy in copy.withUnsafeBufferPointer { $0.baseAddress } }
      redisAppendCommandArgv(raw, Int32(words.count), &pointers, copies.map { $0.count - 1 })
    }
  }

  /// The next reply.
  func reply<Result>(_ look: (redisReply) -> Result) -> Result {
    var answer: UnsafeMutableRawPointer?
    guard redisGetReply(raw, &answer) == REDIS_OK, let answer else { stop("no answer") }
    defer { freeReplyObject(answer) }
    let reply = answer.assumingMemoryBound(to: redisReply.self).pointee
    guard reply.type != REDIS_REPLY_ERROR else { stop(String(cString: reply.str)) }
    return look(reply)
  }
}

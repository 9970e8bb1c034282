// SPDX-License-Identifier: Apache-2.0

import CHiredis
import Coroutines
import CoroutinesBlockingCalls
import Glibc

/// A connection to the server, with hiredis' synchronous calls and nothing else.
///
/// `CoroutinesBlockingCalls` parks the coroutine where hiredis would block: for the time of its calls only, so that
/// nothing changes for the rest of the process.
final class RedisConnection: @unchecked Sendable {
  // SAFETY: used by one coroutine at a time: by the one that has taken it, or its lane, out of the server's channel.

  private let raw: UnsafeMutablePointer<redisContext>
  private let server: String
  /// The longest that any answer may take.
  var timeout: Duration {
    didSet { if timeout != oldValue { redisSetTimeout(raw, timeval(timeout)) } }
  }
  /// The server's names for the scripts that it has from this connection.
  private var digests: [String: String] = [:]
  /// The server's number for this connection, once it has been asked for.
  var number: Int?

  /// Connects; parks until it is connected or the time is over.
  ///
  /// - Parameters:
  ///   - server: Where to.
  ///   - timeout: The longest that any answer may take.
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  init(_ server: RedisServer, timeout: Duration) throws {
    self.server = server.description
    self.timeout = timeout
    Self.ignoreBrokenPipes
    let limit = timeval(server.settings.connectTimeout)
    let raw = try BlockingCalls.withParking {
      redisConnectWithTimeout(server.host, Int32(server.port), limit)
    }
    guard let raw else {
      throw RedisError(
        .unreachable,
        server: server.description,
        operation: "connecting",
        message: "no memory"
      )
    }
    self.raw = raw
    // From here on `deinit` runs, even if this throws.
    guard raw.pointee.err == 0 else {
      try Coroutine.checkCancellation()
      throw failure(.unreachable, "connecting")
    }
    redisSetTimeout(raw, timeval(timeout))
    redisEnableKeepAlive(raw)
    try introduce(server.settings)
  }

  deinit { redisFree(raw) }

  /// It can take another command.
  ///
  /// After any error of the connection, and that is what a cancelled wait is to hiredis, it cannot: the reply is
  /// still to come, and would be taken for that of the next command.
  var isUsable: Bool { raw.pointee.err == 0 }

  /// Sends a command and parks until its reply is there, for the connection's timeout at most.
  ///
  /// *Cancellation:* before it is sent: it is not. After that the reply is waited for, so that it is known what has
  /// been done; unless `mayBeCutShort`: then the wait ends, and the connection with it.
  ///
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @discardableResult
  func send(_ command: RedisCommand, mayBeCutShort: Bool = false) throws -> RedisReply {
    try Coroutine.checkCancellation()
    let answer = try BlockingCalls.withParking {
      guard !mayBeCutShort else { return command.exchange(raw) }
      return try withCancellationShield { command.exchange(raw) }
    }
    guard let answer = answer?.assumingMemoryBound(to: redisReply.self) else {
      if mayBeCutShort { try Coroutine.checkCancellation() }
      throw failure(.connectionLost, command.name)
    }
    defer { freeReplyObject(answer) }
    let reply = RedisReply(answer.pointee)
    if case .error(let words) = reply {
      throw RedisError(.refused, server: server, operation: command.name, message: words)
    }
    return reply
  }

  /// Has the server run a script, which it is given if it does not have it yet.
  func run(
    _ script: RedisScript,
    keys: [String],
    _ addArguments: (inout RedisCommand) -> Void = { _ in }
  ) throws -> RedisReply {
    func evaluate() throws -> RedisReply {
      var command = RedisCommand("EVALSHA", try digest(of: script), String(keys.count))
      for key in keys { command.append(key) }
      addArguments(&command)
      return try send(command)
    }
    do {
      return try evaluate()
    } catch let error as RedisError where error.message.hasPrefix("NOSCRIPT") {
      // Somebody has emptied the server's cache; nothing was run.
      digests[script.name] = nil
      return try evaluate()
    }
  }

  private func digest(of script: RedisScript) throws -> String {
    if let known = digests[script.name] { return known }
    let reply = try send(RedisCommand("SCRIPT", "LOAD", script.text))
    guard let digest = reply.text else { throw unexpected("SCRIPT LOAD") }
    digests[script.name] = digest
    return digest
  }

  private func introduce(_ settings: RedisServer.Settings) throws {
    if let password = settings.password {
      var command = RedisCommand("AUTH")
      if let user = settings.user { command.append(user) }
      command.append(password)
      try send(command)
    }
    if settings.database != 0 { try send(RedisCommand("SELECT", String(settings.database))) }
  }

  func unexpected(_ operation: String) -> RedisError {
    RedisError(
      .unexpectedReply,
      server: server,
      operation: operation,
      message: "the answer is not what was to be expected"
    )
  }

  private func failure(_ kind: RedisError.Kind, _ operation: String) -> RedisError {
    let words = withUnsafeBytes(of: &raw.pointee.errstr) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    // What the system says when a socket's timeout is over.
    let isTimeout = words == String(cString: strerror(EAGAIN))
    return RedisError(
      kind,
      server: server,
      operation: operation,
      message: isTimeout ? "no answer in time" : words
    )
  }

  /// hiredis writes with `write`, which is a signal to the process if the server is gone.
  ///
  /// A handler that the program has set itself stays.
  private static let ignoreBrokenPipes: Void = {
    var action = sigaction()
    sigaction(SIGPIPE, nil, &action)
    if action.__sigaction_handler.sa_handler == nil { signal(SIGPIPE, SIG_IGN) }
  }()
}

extension timeval {
  /// At least a millisecond: none at all would be no limit.
  init(_ duration: Duration) {
    let (seconds, attoseconds) = max(duration, .milliseconds(1)).components
    self.init(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
  }
}

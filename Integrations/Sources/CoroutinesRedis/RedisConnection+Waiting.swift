// SPDX-License-Identifier: Apache-2.0

import Coroutines

extension RedisConnection {
  /// Sends a command that waits in the server, and parks until its reply is there.
  ///
  /// *Cancellation:* has the server end the wait, so that the reply comes now, and nothing that it says is lost;
  /// the connection can be used again. Takes a round trip; up to the connection's timeout if the server stands still.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - unblock: Has the server end the wait of the client with this number, over another connection.
  ///   - unwanted: Gets a reply that came although the wait is cancelled; runs in a shield.
  /// - Returns: The reply.
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  func wait(
    for command: RedisCommand,
    unblock: (Int) throws -> Void,
    unwanted: (RedisReply) -> Void
  ) throws -> RedisReply {
    let client = try clientNumber()
    let replies = Channel<Result<RedisReply, any Error>>(capacity: 1)
    // Another coroutine reads: this one can be cancelled while that one's wait, in a shield, goes on.
    let reading = launch(name: "waiting for Redis", start: .immediately) {
      let reply = Result { try self.send(command) }
      replies.sendIfReady(reply)
    }
    let reply: Result<RedisReply, any Error>
    do {
      reply = try replies.receive()
    } catch {
      try withCancellationShield {
        while !reading.isFinished {
          try? unblock(client)
          // Again, because the command may not have reached the server yet.
          _ = try? withTimeout(.milliseconds(20)) { try reading.join() }
        }
      }
      if case .success(let reply)? = replies.receiveIfReady().value {
        try withCancellationShield { unwanted(reply) }
      }
      throw error
    }
    return try reply.get()
  }

  /// The server's number for this connection.
  private func clientNumber() throws -> Int {
    if let number { return number }
    guard let number = try send(RedisCommand("CLIENT", "ID")).integer else {
      throw unexpected("CLIENT ID")
    }
    self.number = number
    return number
  }
}

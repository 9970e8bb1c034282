// SPDX-License-Identifier: Apache-2.0

/// A value that nobody has acknowledged although it was delivered often enough, or that nobody understands.
public struct DeadLetter: Sendable, Hashable {
  /// Names it among the dead letters.
  public let id: String
  /// The id that it had in its deliveries.
  public let deliveryID: String
  /// How often it was delivered.
  public let deliveries: Int
  /// Why it is here.
  public let reason: String
  /// The value, in JSON.
  public let json: String
}

extension RemoteChannel {
  /// Looks at the values that were put aside, oldest first; parks for a round trip.
  ///
  /// They stay until they are removed, and there is no limit to them. Sending one again, once its fault is mended, is
  /// decoding `json` and calling `send`.
  ///
  /// - Parameter limit: The most to return.
  /// - Returns: The oldest of them.
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func deadLetters(limit: Int = 100) throws -> [DeadLetter] {
    try server.perform("looking at the dead letters of \(self)") { connection, _ in
      var command = RedisCommand("XRANGE", keys.deadLetters, "-", "+", "COUNT")
      command.append(max(1, limit))
      guard let entries = try connection.send(command).list else {
        throw connection.unexpected("XRANGE")
      }
      return entries.compactMap { entry in
        guard let parts = entry.list, parts.count == 2, let id = parts[0].text else { return nil }
        func text(_ name: String) -> String {
          String(decoding: Entry.field(name, of: parts[1]) ?? [], as: UTF8.self)
        }
        return DeadLetter(
          id: id,
          deliveryID: text("id"),
          deliveries: Int(text("deliveries")) ?? 0,
          reason: text("reason"),
          json: text("v")
        )
      }
    }
  }

  /// Removes a value that was put aside; parks for a round trip.
  ///
  /// - Parameter letter: One of those that `deadLetters(limit:)` returned.
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func removeDeadLetter(_ letter: DeadLetter) throws {
    _ = try server.perform("removing a dead letter of \(self)") { connection, _ in
      try connection.send(RedisCommand("XDEL", keys.deadLetters, letter.id))
    }
  }

  func putAside(_ entry: Entry, because reason: String) throws {
    _ = try server.perform("putting aside a value of \(self)") { connection, _ in
      try connection.run(.putAside, keys: [keys.stream, keys.deadLetters]) { command in
        command.append(options.group)
        command.append(options.deletes)
        command.append(entry.id)
        command.append(entry.number)
        command.append(reason)
        command.append(entry.value)
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

public import Coroutines
import Synchronization

extension RemoteChannel {
  /// Receives a value; parks while there is none.
  ///
  /// First those that others have received and not acknowledged within `redeliverAfter`, then the oldest that nobody
  /// has received. Waiting takes a connection for each waiting receiver.
  ///
  /// *Cancellation:* has the server end the wait, which takes a round trip. What it was just about to deliver is given
  /// back; if the connection is lost in that moment, it is delivered again after `redeliverAfter`. None is lost.
  ///
  /// - Returns: The value, to be acknowledged when it is done.
  /// - Throws: `ChannelError.closed` if the channel is closed and all of its values are acknowledged; `RedisError`;
  ///   `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func receive() throws -> Delivery {
    try receive(upTo: 1)[0]
  }

  /// Receives a value, and acknowledges it when `body` has returned; parks while there is none.
  ///
  /// If `body` throws, or the process dies in it, the value is not acknowledged, and is delivered again after
  /// `redeliverAfter`; so it is if `body` takes longer than that.
  ///
  /// *Cancellation:* as `receive()`. When `body` has returned, the value is acknowledged, cancelled or not.
  ///
  /// - Parameter body: What to do with the value; may park.
  /// - Returns: What `body` returns.
  /// - Throws: As `receive()`; what `body` throws.
  @available(*, noasync)
  public func receive<Result>(_ body: (Element) throws -> Result) throws -> Result {
    let delivery = try receive()
    let result = try body(delivery.value)
    // The work is done. Not knowing so would have it done twice.
    try withCancellationShield { _ = try delivery.acknowledge() }
    return result
  }

  /// Receives a value if there is one.
  ///
  /// Parks for round trips, and while the server is away; never for a value.
  ///
  /// - Returns: A delivery, to be acknowledged; or why there is none.
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func receiveIfReady() throws -> ReceiveOutcome<Delivery> {
    if let delivery = try take(1, block: nil).first { return .received(delivery) }
    return try state() == .done ? .closed : .empty
  }

  /// Receives the values that are there, up to a number, in one round trip; parks while there is none.
  ///
  /// *Cancellation:* as `receive()`.
  ///
  /// - Parameter limit: The most to receive; 1 to 1,000.
  /// - Returns: One delivery at least, each to be acknowledged.
  /// - Throws: As `receive()`.
  @available(*, noasync)
  public func receive(upTo limit: Int) throws -> [Delivery] {
    while true {
      if memory.withLock({ $0.isClosed }), try state() == .done { throw ChannelError.closed }
      let deliveries = try take(min(max(limit, 1), 1000), block: options.block)
      if !deliveries.isEmpty { return deliveries }
      _ = try state()
    }
  }

  /// What can be had: what nobody has acknowledged in time, or else what is new.
  private func take(_ limit: Int, block: Duration?) throws -> [Delivery] {
    if isTimeToClaim() {
      let claimed = try deliveries(from: claim(limit))
      if !claimed.isEmpty { return claimed }
    }
    return try deliveries(from: read(limit, block: block))
  }

  /// One of the handle's receivers looks at a time, four times as often as something can be due.
  private func isTimeToClaim() -> Bool {
    let now = CoroutineClock().now
    return memory.withLock { memory in
      if let next = memory.nextClaim, now < next { return false }
      memory.nextClaim = now.advanced(by: options.redeliverAfter / 4)
      return true
    }
  }

  private func claim(_ limit: Int) throws -> [Entry] {
    try withGroup {
      try server.perform("receiving from \(self)") { connection, _ in
        let reply = try connection.run(.claim, keys: [keys.stream, keys.deadLetters]) { command in
          command.append(options.group)
          command.append(consumer)
          command.append(options.redeliverAfter.wholeMilliseconds)
          command.append(limit)
          command.append(options.maximumDeliveries ?? 0)
          command.append(options.deletes)
        }
        guard let entries = reply.list.flatMap({ Entry.claimed($0) }) else {
          throw connection.unexpected("claiming")
        }
        // There may be more.
        if entries.count == limit { memory.withLock { $0.nextClaim = nil } }
        return entries
      }
    }
  }

  private func read(_ limit: Int, block: Duration?) throws -> [Entry] {
    try withGroup {
      guard let block else {
        return try server.perform("receiving from \(self)") { connection, _ in
          try entries(in: connection.send(reading(limit, block: nil)), connection)
        }
      }
      return try server.performWaiting("receiving from \(self)", longest: block) { connection in
        let reply = try connection.wait(for: reading(limit, block: block)) { client in
          try unblock(client)
        } unwanted: { reply in
          giveBack((try? entries(in: reply, connection)) ?? [])
        }
        return try entries(in: reply, connection)
      }
    }
  }

  private func entries(in reply: RedisReply, _ connection: RedisConnection) throws -> [Entry] {
    if case .nothing = reply { return [] }
    guard let entries = Entry.read(reply) else { throw connection.unexpected("XREADGROUP") }
    return entries
  }

  private func unblock(_ client: Int) throws {
    _ = try withTimeout(server.settings.commandTimeout) {
      try server.perform("ending a wait for \(self)") { connection, _ in
        try connection.send(RedisCommand("CLIENT", "UNBLOCK", String(client)))
      }
    }
  }

  /// If this cannot be done, they are delivered again all the same, only later.
  private func giveBack(_ entries: [Entry]) {
    guard !entries.isEmpty else { return }
    _ = try? withTimeout(server.settings.commandTimeout) {
      for entry in entries { _ = try giveBack(entry.id, deliveries: 0) }
    }
  }

  private func reading(_ limit: Int, block: Duration?) -> RedisCommand {
    var command = RedisCommand("XREADGROUP", "GROUP", options.group, consumer, "COUNT")
    command.append(limit)
    if let block {
      command.append("BLOCK")
      command.append(block.wholeMilliseconds)
    }
    for word in ["STREAMS", keys.stream, ">"] { command.append(word) }
    return command
  }

  private enum State: Int {
    case open, draining, done
  }

  private func state() throws -> State {
    let state = try server.perform("looking at \(self)") { connection, _ in
      let reply = try connection.run(.state, keys: [keys.stream, keys.closed]) { command in
        command.append(options.group)
      }
      guard let state = reply.integer.flatMap({ State(rawValue: $0) }) else {
        throw connection.unexpected("looking")
      }
      return state
    }
    if state != .open { memory.withLock { $0.isClosed = true } }
    return state
  }

  /// Does something that needs the group, which is made first if need be: the first time, and when the server has
  /// lost its data.
  private func withGroup<Result>(_ body: () throws -> Result) throws -> Result {
    while true {
      if !memory.withLock({ $0.hasGroup }) {
        try makeGroup()
        // A channel that was closed long ago is not to be waited for.
        _ = try state()
      }
      do {
        return try body()
      } catch let error as RedisError where error.isAboutGroup {
        memory.withLock { $0.hasGroup = false }
        try Coroutine.yield()
      }
    }
  }

  private func makeGroup() throws {
    try server.perform("receiving from \(self)") { connection, _ in
      do {
        // From the beginning: what was sent before anybody received is to be received.
        try connection.send(
          RedisCommand("XGROUP", "CREATE", keys.stream, options.group, "0", "MKSTREAM")
        )
      } catch let error as RedisError where error.message.hasPrefix("BUSYGROUP") {
        // Another has made it.
      }
    }
    memory.withLock { $0.hasGroup = true }
  }

  /// Understands entries; those that nobody can understand go to the dead letters.
  private func deliveries(from entries: [Entry]) throws -> [Delivery] {
    guard !entries.isEmpty else { return [] }
    let decoder = JSON.Decoder()
    var deliveries: [Delivery] = []
    for entry in entries {
      do {
        let value = try decoder.decode(Element.self, entry.value)
        deliveries.append(
          Delivery(value: value, id: entry.id, number: entry.number, channel: self)
        )
      } catch {
        try putAside(entry, because: "not a \(Element.self): \(error)")
      }
    }
    return deliveries
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Synchronization

/// A channel whose other ends may be in other processes, on other machines: a Redis stream with consumer groups.
///
/// ```swift
/// // In one process
/// let jobs = RemoteChannel<Job>("jobs", on: server)
/// try jobs.send(job)
///
/// // In others
/// while true {
///   try jobs.receive { job in try work(on: job) }  // acknowledged when the body has returned
/// }
/// ```
///
/// *At least once.* When `send` has returned, the value is in Redis, and is delivered again and again until somebody
/// has acknowledged it: by the death of a receiver, or of the server, it comes twice, but is not lost. What "in Redis"
/// withstands is the server's setting: with `appendonly yes` and `appendfsync always` the value is on the
/// disk before `send` returns.
///
/// | | waits while | when closed |
/// |---|---|---|
/// | `send` | full | throws `ChannelError.closed` |
/// | `receive` | nothing to deliver | first what is there, then throws `ChannelError.closed` |
///
/// What a channel within a process gives and this cannot: README.md, "What the engine cannot give".
///
/// Values are stored as JSON. Cost: `send` is one round trip to the server; a delivery is two, one to receive
/// and one to acknowledge it; several are received and acknowledged in the same (`receive(upTo:)`, `acknowledge(_:)`).
public final class RemoteChannel<Element: Codable & Sendable>: Sendable {
  /// Its name, the same in all processes.
  public let name: String
  /// Where it is.
  public let server: RedisServer
  /// How it keeps, hands out and trims its values.
  public let options: RemoteChannelOptions

  /// The name under which this handle receives; no other has it.
  let consumer = uniqueID()
  let keys: Keys
  let memory = Mutex(Memory())

  /// What a handle remembers between calls.
  struct Memory {
    /// The group is known to be there.
    var hasGroup = false
    /// The channel has been seen to be closed, which is for ever.
    var isClosed = false
    /// When to look for deliveries that nobody has acknowledged in time.
    var nextClaim: CoroutineClock.Instant?
  }

  /// A handle to the channel of that name, which begins with its first use by anybody.
  ///
  /// Does not park. May be used from coroutines of any schedulers.
  ///
  /// - Parameters:
  ///   - name: Its name, the same in all processes.
  ///   - server: Where it is.
  ///   - options: How it keeps, hands out and trims its values; the same in all processes.
  public init(
    _ name: String,
    on server: RedisServer,
    options: RemoteChannelOptions = RemoteChannelOptions()
  ) {
    precondition(options.capacity ?? 1 > 0, "A remote channel keeps at least one value.")
    precondition(options.redeliverAfter > .zero, "A delivery must be allowed some time.")
    self.name = name
    self.server = server
    self.options = options
    keys = Keys(name)
  }

  /// The keys that a channel uses, all in one slot of a cluster.
  struct Keys: Sendable {
    let stream: String
    let closed: String
    let deadLetters: String
    private let prefix: String

    init(_ name: String) {
      prefix = "coroutines:{\(name)}:"
      stream = prefix + "stream"
      closed = prefix + "closed"
      deadLetters = prefix + "dead"
    }

    /// The number of a lane's last send.
    func lastSend(of lane: Lane) -> String { prefix + "sent:" + lane.id }

    /// The answers to a question.
    func answers(to id: String) -> String { prefix + "answers:" + id }
  }
}

extension RemoteChannel {
  // MARK: - Closing and looking

  /// Closes the channel, for all processes and for ever: no more sends.
  ///
  /// Values that are in it are still delivered, and delivered again, until all are acknowledged; then receivers get
  /// `ChannelError.closed`. Waiting senders and receivers notice within `lookAgainAfter`. Closing twice has no effect.
  ///
  /// Parks for a round trip. *Cancellation:* before the command is sent, the channel stays open.
  ///
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func close() throws {
    _ = try server.perform("closing \(self)") { connection, _ in
      try connection.send(RedisCommand("SET", keys.closed, "1"))
    }
    memory.withLock { $0.isClosed = true }
  }

  /// Asks whether the channel has been closed; there may still be values in it.
  ///
  /// Parks for a round trip.
  ///
  /// - Returns: True if it has.
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func isClosed() throws -> Bool {
    try server.perform("looking at \(self)") { connection, _ in
      try connection.send(RedisCommand("EXISTS", keys.closed)).integer == 1
    }
  }

  /// Asks how many values are in it.
  ///
  /// Those that wait, and those that are received and not acknowledged; if trimmed by number, all that are kept. Parks
  /// for a round trip.
  ///
  /// - Returns: The number, which may be another by now.
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func count() throws -> Int {
    try server.perform("looking at \(self)") { connection, _ in
      guard let count = try connection.send(RedisCommand("XLEN", keys.stream)).integer else {
        throw connection.unexpected("XLEN")
      }
      return count
    }
  }

  /// Removes the channel from the server, with all that is in it, dead letters included.
  ///
  /// For channels that were made for a single purpose, when nobody uses them any more: the next use by anybody begins
  /// a new one. Parks for a round trip.
  ///
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func remove() throws {
    _ = try server.perform("removing \(self)") { connection, _ in
      try connection.send(RedisCommand("DEL", keys.stream, keys.closed, keys.deadLetters))
    }
    memory.withLock { $0 = Memory() }
  }
}

extension RemoteChannel: CustomStringConvertible {
  /// Its name.
  public var description: String { "the channel \"\(name)\"" }
}

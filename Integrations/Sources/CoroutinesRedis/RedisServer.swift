// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// A Redis server (6.2 or later), and the connections to it that channels and mailboxes share.
///
/// ```swift
/// let server = RedisServer(host: "127.0.0.1", port: 6379)
/// let jobs = RemoteChannel<Job>("jobs", on: server)
/// ```
///
/// Nothing happens when it is made: connections are opened when they are needed, and again, with growing and random
/// delays, when they have broken. May be used from coroutines of any schedulers. The way to the server is plain TCP:
/// hiredis 0.14 knows no TLS.
///
/// With the first connection the process ignores SIGPIPE, unless it handles it.
public final class RedisServer: Sendable, CustomStringConvertible {
  /// Name or address of its host.
  public let host: String
  /// Its port.
  public let port: Int
  /// How it is used.
  public let settings: Settings

  /// Those for short commands: whoever finds none idle waits its turn here.
  private let lanes: Channel<Lane>
  /// Those for commands that wait in the server: as many as there are waiting receivers, so that none of these
  /// keeps a sender from its turn.
  private let waiting = Channel<RedisConnection>(capacity: .unbounded)

  /// A server.
  ///
  /// - Parameters:
  ///   - host: Name or address of its host.
  ///   - port: Its port.
  ///   - settings: How it is used.
  public init(host: String, port: Int = 6379, settings: Settings = Settings()) {
    self.host = host
    self.port = port
    self.settings = settings
    let count = max(1, settings.connections)
    lanes = Channel(capacity: count)
    for _ in 0..<count { lanes.sendIfReady(Lane()) }
  }

  /// Host and port.
  public var description: String { "\(host):\(port)" }

  /// How a server is used.
  public struct Settings: Sendable {
    /// User to present, if the server asks for one.
    public var user: String?
    /// Password to present, if the server asks for one.
    public var password: String?
    /// Number of the database.
    public var database = 0
    /// Connections for short commands, and so the most of these that are under way at a time.
    ///
    /// Each receiver that waits takes one more.
    public var connections = 4
    /// The longest that connecting may take.
    public var connectTimeout = Duration.seconds(5)
    /// The longest that the answer to a command may take.
    ///
    /// Also the longest that a cancelled caller still waits for an answer, to know what was done.
    public var commandTimeout = Duration.seconds(5)
    /// For how long an operation is tried again while the server is away, before it throws.
    public var retryTime = Duration.seconds(30)

    /// What fits most uses.
    public init() {}
  }

  /// Does something over a connection that nobody else uses meanwhile; again while the server is away.
  ///
  /// Parks until there is a connection, for its answers, and between attempts. What `body` does must bear being done
  /// twice.
  ///
  /// - Throws: `RedisError`; `CancellationError`; what else `body` throws.
  func perform<Result>(
    _ operation: String,
    _ body: (RedisConnection, Lane) throws -> Result
  ) throws -> Result {
    // The wait for a turn counts: others may be trying for as long.
    let deadline = self.deadline
    let lane = try lanes.receive()
    // There is room for every lane, so this never waits, and works in cancelled code too.
    defer { lanes.sendIfReady(lane) }
    return try persist(operation, until: deadline) {
      let connection =
        try lane.connection ?? RedisConnection(self, timeout: settings.commandTimeout)
      lane.connection = connection
      defer { if !connection.isUsable { lane.connection = nil } }
      return try body(connection, lane)
    }
  }

  /// The same for a command that waits in the server, up to `longest`.
  func performWaiting<Result>(
    _ operation: String,
    longest: Duration,
    _ body: (RedisConnection) throws -> Result
  ) throws -> Result {
    try persist(operation, until: deadline) {
      let limit = longest + settings.commandTimeout
      let connection =
        try waiting.receiveIfReady().value ?? RedisConnection(self, timeout: limit)
      connection.timeout = limit
      defer { if connection.isUsable { waiting.sendIfReady(connection) } }
      return try body(connection)
    }
  }

  /// For how long an operation that begins now is tried.
  private var deadline: CoroutineClock.Instant {
    CoroutineClock().now.advanced(by: settings.retryTime)
  }

  private func persist<Result>(
    _ operation: String,
    until deadline: CoroutineClock.Instant,
    _ attempt: () throws -> Result
  ) throws -> Result {
    var backOff = BackOff(from: .milliseconds(10), to: .milliseconds(320))
    var attempts = 0
    var isOutcomeUnknown = false
    while true {
      do {
        return try attempt()
      } catch var error as RedisError {
        attempts += 1
        isOutcomeUnknown = isOutcomeUnknown || error.isOutcomeUnknown
        guard error.isPassing, CoroutineClock().now < deadline else {
          error.operation = operation
          error.attempts = attempts
          error.isOutcomeUnknown = isOutcomeUnknown
          throw error
        }
        try backOff.wait()
      }
    }
  }
}

/// A place for a connection, which keeps its identity when the connection is replaced.
///
/// Its commands follow one another. So the server need remember only the number of the last send of each lane to know
/// one that comes again.
final class Lane: @unchecked Sendable {
  // SAFETY: used by one coroutine at a time: by the one that has taken it out of the server's channel.

  /// Known to no other lane of any process.
  let id = uniqueID()
  /// Nil before the first use, and after it has broken.
  var connection: RedisConnection?
  private var number = 0

  /// A number for a send, the same in all of its attempts.
  func nextNumber() -> Int {
    number += 1
    return number
  }
}

/// How long to wait before the next attempt: twice as long each time, up to a limit.
struct BackOff {
  private var delay: Duration
  private let limit: Duration

  init(from delay: Duration, to limit: Duration) {
    self.delay = delay
    self.limit = limit
  }

  /// Parks for the present delay.
  mutating func wait() throws {
    // A random part, so that a crowd does not come back all at once.
    try Coroutine.sleep(for: delay * Double.random(in: 0.5...1))
    delay = min(delay * 2, limit)
  }
}

/// A word that no other process has.
func uniqueID() -> String {
  var generator = SystemRandomNumberGenerator()
  let (high, low) = (generator.next() as UInt64, generator.next() as UInt64)
  return String(high, radix: 36) + String(low, radix: 36)
}

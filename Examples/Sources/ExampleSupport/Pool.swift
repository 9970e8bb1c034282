// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Connections that many coroutines of one scheduler share.
///
/// A channel holds the numbers of those that nobody uses; who finds it empty waits in it, first come first
/// served. A connection is opened by whoever needs it first, and again after it has broken.
public final class Pool<Connection> {
  private let idle: Channel<Int>
  private var connections: [Connection?]
  private let open: () throws -> Connection
  private let isUsable: (Connection) -> Bool

  /// A pool.
  ///
  /// - Parameters:
  ///   - size: The most connections there are at a time.
  ///   - open: Opens one.
  ///   - isUsable: Whether it can be used again; asked after each use.
  public init(
    size: Int,
    open: @escaping () throws -> Connection,
    isUsable: @escaping (Connection) -> Bool
  ) {
    self.open = open
    self.isUsable = isUsable
    connections = Array(repeating: nil, count: size)
    idle = Channel(capacity: size)
    for number in 0..<size { idle.sendIfReady(number) }
  }

  /// Runs `body` with a connection that nobody else has; parks until there is one.
  ///
  /// *Cancellation:* ends the wait for a connection. What it does to `body` is up to `body`; in any case the
  /// connection, or the place for another, goes back to the pool.
  ///
  /// - Parameter body: What to do with it.
  /// - Returns: What `body` returns.
  /// - Throws: What opening or `body` throws; `CancellationError`.
  public func withConnection<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    let number = try idle.receive()
    // There is room for every number, so this never waits, and works in cancelled code too.
    defer { idle.sendIfReady(number) }
    let connection = try connections[number] ?? open()
    connections[number] = connection
    defer { if !isUsable(connection) { connections[number] = nil } }
    return try body(connection)
  }
}

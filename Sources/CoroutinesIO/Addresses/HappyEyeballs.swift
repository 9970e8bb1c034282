// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Several ways to the same end, of which the first that works is taken.
package enum HappyEyeballs {
  /// RFC 8305, section 4: the families by turns, IPv6 first, each in the resolver's order.
  package static func interleave(_ addresses: [SocketAddress]) -> [SocketAddress] {
    func isFirst(_ address: SocketAddress) -> Bool {
      if case .ipv6 = address { true } else { false }
    }
    var first = addresses.filter(isFirst)[...]
    var second = addresses.filter { !isFirst($0) }[...]
    var all: [SocketAddress] = []
    while !first.isEmpty || !second.isEmpty {
      if let next = first.popFirst() { all.append(next) }
      if let next = second.popFirst() { all.append(next) }
    }
    return all
  }

  /// Tries all addresses, one more at each failure and each delay, until one has been connected to.
  ///
  /// - Parameters:
  ///   - host: For the error.
  ///   - addresses: In the resolver's order.
  ///   - attemptDelay: How long an attempt is alone.
  ///   - attempt: Parks until it is connected; cancelled once another one is.
  ///   - disposal: Gets a connection that came too late.
  /// - Returns: The first connection.
  /// - Throws: `ConnectionError`; what an attempt throws that is no `IOError`; `CancellationError`.
  package static func connect<Connection: Sendable>(
    _ host: String,
    _ addresses: [SocketAddress],
    attemptDelay: Duration,
    by attempt: @escaping (SocketAddress) throws -> Connection,
    disposal: @escaping (Connection) -> Void
  ) throws -> Connection {
    let addresses = interleave(addresses)
    // What an attempt has come to; unbounded, so that none waits when nobody listens any more.
    let outcomes = Channel<(SocketAddress, Result<Connection, any Error>)>(capacity: .unbounded)
    // Connections that came too late, or that a cancellation overtook.
    defer {
      while case .received(let late) = outcomes.receiveIfReady() {
        if case .success(let connection) = late.1 { disposal(connection) }
      }
    }
    var winner: Connection?
    do {
      try withCoroutineScope { scope in
        var next = 0
        var failures: [ConnectionError.Attempt] = []
        while winner == nil {
          if failures.count == addresses.count {
            throw ConnectionError(host: host, attempts: failures)
          }
          if next < addresses.count {
            let address = addresses[next]
            next += 1
            scope.launch(name: "connecting to \(address)") {
              let outcome = Result { try attempt(address) }
              outcomes.sendIfReady((address, outcome))
            }
          }
          let hasMore = next < addresses.count
          let outcome = try hasMore ? receive(outcomes, within: attemptDelay) : outcomes.receive()
          switch outcome {
          case nil: continue
          case (_, .success(let connection))?: winner = connection
          case (let address, .failure(let error as IOError))?:
            failures.append(.init(address: address, error: error))
          case (_, .failure(let error))?: throw error
          }
        }
        scope.cancel()
      }
    } catch {
      if let winner { disposal(winner) }
      throw error
    }
    guard let winner else { fatalError("a race has neither a winner nor an error") }
    return winner
  }

  private static func receive<Element>(
    _ channel: Channel<Element>,
    within delay: Duration
  ) throws -> Element? {
    try select {
      Receive(from: channel) { $0 as Element? }
      After(delay) { nil as Element? }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines

extension ByteStream {
  /// Connects to a host by its name; parks until one of its addresses has answered.
  ///
  /// All addresses are tried by the rules of "Happy Eyeballs" (RFC 8305): families by turns, IPv6 first; the next
  /// attempt begins when one has failed, or has not answered for `attemptDelay`; the first connection wins, and the
  /// other attempts are given up. So a path that leads nowhere costs a quarter of a second, not minutes. The
  /// addresses of both families are asked for at once, and waited for together.
  ///
  /// *Cancellation:* ends the wait; nothing stays open.
  ///
  /// - Parameters:
  ///   - host: A name, or an address in digits.
  ///   - port: The port.
  ///   - resolver: Who knows the addresses.
  ///   - attemptDelay: How long an attempt is alone.
  /// - Returns: The connection. Small writes are sent at once (`TCP_NODELAY`).
  /// - Throws: `ConnectionError`, which names each attempt; what the resolver throws; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`. There is no time limit but the system's, of minutes: see `withTimeout`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func connect(
    host: String,
    port: UInt16,
    resolver: Resolver = .system,
    attemptDelay: Duration = .milliseconds(250)
  ) throws -> ByteStream {
    let addresses = try resolver.addresses(of: host, port: port)
    return try HappyEyeballs.connect(
      "\(host):\(port)",
      addresses,
      attemptDelay: attemptDelay,
      by: { try ByteStream.connect(to: $0) },
      disposal: { $0.close() }
    )
  }
}

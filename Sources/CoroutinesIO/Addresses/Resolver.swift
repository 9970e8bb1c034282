// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import Coroutines

/// Finds the addresses of hosts by their names.
///
/// ```swift
/// let addresses = try Resolver.system.addresses(of: "localhost", port: 80)
/// ```
public struct Resolver: Sendable {
  private let resolve: @Sendable (_ host: String, _ port: UInt16) throws -> [SocketAddress]

  /// A resolver of your own: a cache, a table for tests, a client of a name server.
  ///
  /// - Parameter resolve: Finds the addresses, the preferred ones first. Runs in the coroutine that asks: it may park,
  ///   and what would block the thread it gives to `offload`.
  public init(
    _ resolve: @escaping @Sendable (_ host: String, _ port: UInt16) throws -> [SocketAddress]
  ) {
    self.resolve = resolve
  }

  /// The system's: files, name servers and whatever else it is set up for (`getaddrinfo`).
  ///
  /// It runs on a thread of the pool of `offload`, so a slow name server delays nobody else; many slow ones may use
  /// the pool's threads up. *Cancellation* ends the wait, and the thread goes on to the end of the call.
  public static let system = Resolver { host, port in
    if host.utf8.contains(0) {
      throw ResolutionError(host: host, code: cio_unknown_host, reason: "a name has no zero byte")
    }
    return try offload { try askSystem(host, port) }
  }

  /// Finds the addresses of a host; parks until they are known.
  ///
  /// An address in digits is its own, and nobody is asked.
  ///
  /// *Cancellation:* ends the wait.
  ///
  /// - Parameters:
  ///   - host: A name, or an address in digits.
  ///   - port: The port that the addresses are to have.
  /// - Returns: The addresses, the preferred ones first.
  /// - Throws: `ResolutionError`; what the resolver throws; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func addresses(of host: String, port: UInt16) throws -> [SocketAddress] {
    if let digits = SocketAddress(host, port: port) { return [digits] }
    return try resolve(host, port)
  }

  /// On a thread that may block.
  private static func askSystem(_ host: String, _ port: UInt16) throws -> [SocketAddress] {
    var found = [cio_address](repeating: cio_address(), count: 64)
    var code: Int32 = 0
    let count = cio_resolve(host, port, &found, Int32(found.count), &code)
    if count == -2 { throw IOError(code: code, operation: "resolving", subject: host) }
    if count < 0 {
      let reason = String(cString: cio_resolution_text(code))
      throw ResolutionError(host: host, code: code, reason: reason)
    }
    return found[..<Int(count)].compactMap { SocketAddress($0) }
  }
}

/// No address was found for a name.
public struct ResolutionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let host: String
  /// The system's code, as of `getaddrinfo` (`EAI_NONAME` and so on).
  public let code: Int32
  /// The system's words.
  public let reason: String

  /// An error.
  ///
  /// - Parameters:
  ///   - host: The name.
  ///   - code: The system's code.
  ///   - reason: Why there is none.
  public init(host: String, code: Int32, reason: String) {
    self.host = host
    self.code = code
    self.reason = reason
  }

  /// One line for people, with what to do.
  public var description: String {
    "resolving \(host): \(reason) (\(code)). Check the name, and whether a name server can be reached."
  }
}

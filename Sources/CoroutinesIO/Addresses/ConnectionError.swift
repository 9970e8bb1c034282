// SPDX-License-Identifier: Apache-2.0

/// None of a host's addresses could be connected to.
public struct ConnectionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was to be connected to: "example.org:443".
  public let host: String
  /// The attempts in the order in which they failed; none if there was no address.
  public let attempts: [Attempt]

  /// An attempt that failed.
  public struct Attempt: Hashable, Sendable {
    /// Where to.
    public let address: SocketAddress
    /// Why it failed.
    public let error: IOError

    /// An attempt.
    public init(address: SocketAddress, error: IOError) {
      self.address = address
      self.error = error
    }
  }

  /// An error.
  public init(host: String, attempts: [Attempt]) {
    self.host = host
    self.attempts = attempts
  }

  /// One line for people, with each attempt and what to do.
  public var description: String {
    if attempts.isEmpty {
      return
        "connecting to \(host): it has no address. Check what the resolver answers for that name."
    }
    return "connecting to \(host): " + attempts.map(\.error.summary).joined(separator: "; ")
      + ". Check that a server listens there and that nothing in between refuses."
  }
}

// SPDX-License-Identifier: Apache-2.0

/// What Redis, or the way to it, had to object.
public struct RedisError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of trouble it was.
  public enum Kind: Sendable, Hashable {
    /// No connection came about: nothing has been done.
    case unreachable
    /// The connection broke, or no answer came in time, after a command had been sent: it may have been carried out.
    case connectionLost
    /// The server refused the command.
    case refused
    /// The answer, or what was stored, is not what this library knows: another program may use the same keys.
    case unexpectedReply
  }

  /// What kind of trouble it was.
  public let kind: Kind
  /// Host and port: `127.0.0.1:6379`.
  public let server: String
  /// What was to be done.
  public internal(set) var operation: String
  /// The server's words, or hiredis', or the system's.
  public let message: String
  /// How often it was tried.
  public internal(set) var attempts = 1
  /// An attempt may have been carried out though its answer has not been seen.
  ///
  /// A send that ended so may have been received: sending the value again may double it.
  public internal(set) var isOutcomeUnknown: Bool

  init(_ kind: Kind, server: String, operation: String, message: String) {
    self.kind = kind
    self.server = server
    self.operation = operation
    self.message = message
    isOutcomeUnknown = kind == .connectionLost
  }

  /// What was tried, where, how often, and what came of it.
  public var description: String {
    let times = attempts == 1 ? "" : ", after \(attempts) attempts"
    let unknown = isOutcomeUnknown ? " It may have been done all the same." : ""
    let end = message.hasSuffix(".") ? "" : "."
    return "\(operation) on the Redis server \(server) failed\(times): \(message)\(end)\(unknown)"
  }

  /// It may go well a little later: the server is away, starts, or changes its role.
  var isPassing: Bool {
    switch kind {
    case .unreachable, .connectionLost: true
    case .unexpectedReply: false
    case .refused:
      ["LOADING", "BUSY ", "MASTERDOWN", "READONLY", "TRYAGAIN", "CLUSTERDOWN"]
        .contains { message.hasPrefix($0) }
    }
  }

  /// The consumer group is not there (any more).
  var isAboutGroup: Bool { kind == .refused && message.contains("NOGROUP") }
}

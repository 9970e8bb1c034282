// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Glibc

/// The server that a script has started around this program, to be killed and restarted.
public struct Server: Sendable {
  private let killCommand: String
  private let restartCommand: String

  /// The server that the environment tells of; ends the program if there is none.
  ///
  /// - Parameter script: The script that starts it.
  public init(startedBy script: String) {
    killCommand = requiredVariable("SERVER_KILL", setBy: script)
    restartCommand = requiredVariable("SERVER_RESTART", setBy: script)
  }

  /// Kills it and all of its processes with SIGKILL, so that it has no time to tidy up; parks until it is dead.
  ///
  /// - Throws: `Failure`; `CancellationError`.
  public func kill() throws {
    try run(killCommand)
  }

  /// Starts it again with the data and the port that it had; parks until it takes connections.
  ///
  /// - Throws: `Failure`; `CancellationError`.
  public func restart() throws {
    try run(restartCommand)
  }

  /// A command that did not end well.
  public struct Failure: Error, CustomStringConvertible {
    /// The command and how it ended.
    public let description: String
  }

  private func run(_ command: String) throws {
    let status = try offload { system(command) }
    guard status == 0 else { throw Failure(description: "\(command): status \(status)") }
  }
}

/// How long to wait before the next attempt: twice as long each time, up to a limit.
public struct BackOff {
  private var delay = Duration.milliseconds(10)
  private let limit = Duration.milliseconds(320)

  /// Starts small.
  public init() {}

  /// Parks for the present delay.
  ///
  /// - Throws: `CancellationError`.
  public mutating func wait() throws {
    // A random part, so that a crowd does not come back all at once.
    try Coroutine.sleep(for: delay * Double.random(in: 0.5...1))
    delay = min(delay * 2, limit)
  }
}

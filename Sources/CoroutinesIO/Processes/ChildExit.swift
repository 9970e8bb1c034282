// SPDX-License-Identifier: Apache-2.0

/// How a child process ended.
public enum ChildExit: Hashable, Sendable, CustomStringConvertible {
  /// By itself, with this status.
  case exited(Int32)
  /// By this signal.
  case signalled(Signal)

  /// True if it exited with status 0.
  public var isSuccess: Bool { self == .exited(0) }

  /// "exited with status 1", or "ended by SIGKILL".
  public var description: String {
    switch self {
    case .exited(let status): "exited with status \(status)"
    case .signalled(let signal): "ended by \(signal)"
    }
  }
}

/// What a child process has left behind.
public struct ChildOutput: Hashable, Sendable {
  /// How it ended.
  public let exit: ChildExit
  /// What it wrote to its standard output.
  public let output: [UInt8]
  /// What it wrote to its standard error.
  public let errors: [UInt8]

  /// Its standard output as text; bytes that are not UTF-8 are replaced.
  public var text: String { String(decoding: output, as: UTF8.self) }
}

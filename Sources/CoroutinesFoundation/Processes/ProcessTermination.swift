// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// How a process ended.
public enum ProcessTermination: Sendable, Hashable, CustomStringConvertible {
  /// By itself, with this status.
  case exited(Int32)
  /// By this signal.
  case signalled(Int32)

  /// True if it exited with status 0.
  public var isSuccess: Bool { self == .exited(0) }

  /// `exited with status 1`, or `ended by signal 9`.
  public var description: String {
    switch self {
    case .exited(let status): "exited with status \(status)"
    case .signalled(let signal): "ended by signal \(signal)"
    }
  }
}

/// What a process has left behind.
public struct ProcessOutput: Sendable, Hashable {
  /// How it ended.
  public let termination: ProcessTermination
  /// What it wrote to its standard output.
  public let standardOutput: Data
  /// What it wrote to its standard error.
  public let standardError: Data

  /// Its standard output as text; bytes that are not UTF-8 are replaced.
  public var text: String { String(decoding: standardOutput, as: UTF8.self) }
}

/// Which of a process's standard streams are connected to the one who starts it.
///
/// The others go where the `Process` says.
public struct ProcessStreams: OptionSet, Sendable {
  /// The bits.
  public let rawValue: Int

  /// A set from its bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Standard input.
  public static let input = ProcessStreams(rawValue: 1)
  /// Standard output.
  public static let output = ProcessStreams(rawValue: 2)
  /// Standard error.
  public static let errors = ProcessStreams(rawValue: 4)
}

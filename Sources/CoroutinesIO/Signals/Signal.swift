// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO

/// A signal of the system.
public struct Signal: RawRepresentable, Hashable, Sendable {
  /// The system's number.
  public let rawValue: Int32

  /// A signal by its number.
  ///
  /// - Parameter rawValue: `SIGINT` and so on.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// `SIGHUP`: the terminal is gone; for servers: read the settings again.
  public static let hangUp = Signal(rawValue: cio_signal_hang_up)
  /// `SIGINT`: Control-C.
  public static let interrupt = Signal(rawValue: cio_signal_interrupt)
  /// `SIGQUIT`: Control-\.
  public static let quit = Signal(rawValue: cio_signal_quit)
  /// `SIGKILL`: ends a process at once; cannot be caught.
  public static let kill = Signal(rawValue: cio_signal_kill)
  /// `SIGUSR1`.
  public static let user1 = Signal(rawValue: cio_signal_user1)
  /// `SIGUSR2`.
  public static let user2 = Signal(rawValue: cio_signal_user2)
  /// `SIGPIPE`: nobody reads any more.
  public static let brokenPipe = Signal(rawValue: cio_signal_pipe)
  /// `SIGALRM`.
  public static let alarm = Signal(rawValue: cio_signal_alarm)
  /// `SIGTERM`: asks a process to end.
  public static let terminate = Signal(rawValue: cio_signal_terminate)
  /// `SIGCHLD`: a child has ended or stopped.
  public static let child = Signal(rawValue: cio_signal_child)
  /// `SIGCONT`: a stopped process goes on.
  public static let goOn = Signal(rawValue: cio_signal_go_on)
  /// `SIGSTOP`: stops a process; cannot be caught.
  public static let stop = Signal(rawValue: cio_signal_stop)
  /// `SIGWINCH`: the terminal has another size.
  public static let windowChange = Signal(rawValue: cio_signal_window_change)
}

extension Signal: CustomStringConvertible {
  private static let names: [Signal: String] = [
    .hangUp: "SIGHUP", .interrupt: "SIGINT", .quit: "SIGQUIT", .kill: "SIGKILL",
    .user1: "SIGUSR1", .user2: "SIGUSR2", .brokenPipe: "SIGPIPE", .alarm: "SIGALRM",
    .terminate: "SIGTERM", .child: "SIGCHLD", .goOn: "SIGCONT", .stop: "SIGSTOP",
    .windowChange: "SIGWINCH",
  ]

  /// Its name, "SIGINT", or "signal 34".
  public var description: String { Self.names[self] ?? "signal \(rawValue)" }
}

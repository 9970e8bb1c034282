// SPDX-License-Identifier: Apache-2.0

public import Coroutines

/// Signals that the process gets, as a channel.
///
/// ```swift
/// let signals = try SignalChannel(for: [.interrupt, .terminate])
/// launch {
///   for signal in signals.received { print("ends because of", signal) }
/// }
/// ```
///
/// While it is open these signals do nothing else: an interrupt does not end the process. Several may be open, for
/// the same signals too: each gets all. When the last one for a signal is closed, what was set for it before is
/// back, unless somebody else has changed it meanwhile.
///
/// *Coalescing:* as in the system, a signal that comes again before it has been taken counts once. The channel holds
/// one out to be received and remembers, for each signal, that it has come since; so a signal that comes any number
/// of times while nobody receives is received at least once and at most twice, and a flood uses no memory. Different
/// signals that wait are received in the order of their numbers.
///
/// The handler notes the number and writes a byte to a pipe, no more. The pipe is made with the first channel of the
/// process and stays.
public final class SignalChannel: Sendable {
  private let feed: SignalFeed

  /// Catches signals from now on.
  ///
  /// Does not park.
  ///
  /// - Parameter signals: Which. Not `SIGKILL` and `SIGSTOP`, which nobody can catch, nor those of faults in the
  ///   program (`SIGSEGV`, `SIGBUS`, `SIGFPE`, `SIGILL`, `SIGTRAP`).
  /// - Throws: `IOError`, with `EINVAL` for such a signal: then none is caught.
  public init(for signals: Set<Signal>) throws {
    feed = SignalFeed(signals)
    try SignalHub.shared.add(feed)
  }

  /// Catches signals from now on.
  ///
  /// - Parameter signals: Which.
  /// - Throws: As the other form.
  public convenience init(for signals: Signal...) throws { try self.init(for: Set(signals)) }

  deinit { close() }

  /// Where the signals come: `receive()`, `for … in`, a `Receive` of a `select`.
  ///
  /// *Cancellation:* of a receive takes no signal.
  public var received: ReceiveEnd<Signal> { feed.channel.receiveEnd }

  /// Parks until one of the signals has come.
  ///
  /// *Cancellation:* ends the wait; no signal is lost.
  ///
  /// - Returns: The signal.
  /// - Throws: `ChannelError.closed` after `close`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func receive() throws -> Signal { try feed.channel.receive() }

  /// Catches them no more, and closes the channel; signals that have not been received are dropped.
  ///
  /// One that the system delivers after that does what was set before: the default of most ends the process.
  ///
  /// No effect the second time. It closes by itself when nobody has it any more.
  public func close() {
    SignalHub.shared.remove(feed)
    feed.channel.close()
  }
}

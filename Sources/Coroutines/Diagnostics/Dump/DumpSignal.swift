// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The signal that has all coroutines dumped: SIGQUIT, which is Ctrl-\ in a terminal, and `kill -QUIT`.
///
/// The first `runBlocking` or `withCoroutine` of a process arms it, unless the process handles or ignores the signal by then. The first
/// signal prints a dump to standard error, or writes it to the file that the environment variable
/// `COROUTINES_DUMP_FILE` names, and the program goes on. A second signal does what the system does with it: it ends
/// the process.
///
/// A thread of its own takes the dump, so it comes even if all loops are busy, and nothing is done in the handler that
/// must not be. In a process with one thread (on Linux with glibc 2.35 or later, x86_64 or aarch64) that thread is not
/// there before the signal comes, because a second thread makes each allocation dearer: the handler starts it, if need
/// be a few milliseconds later, when the interrupted code is not inside the C library. Code that never leaves it, say
/// a callback of `qsort` that does not end, gets no dump but a message.
///
/// To do without it, call `disable()` before the first of these, or set `COROUTINES_DUMP_SIGNAL=off` in the
/// environment.
public enum DumpSignal {
  private enum State { case undecided, armed, disabled }

  private static let lock = AllocatedLock()
  // SAFETY: guarded by `lock`.
  nonisolated(unsafe) private static var state = State.undecided

  /// Leaves the signal alone.
  ///
  /// No effect once it is armed.
  public static func disable() {
    lock.withUnobservedLock { if state == .undecided { state = .disabled } }
  }

  /// Arms the signal, for programs that use neither `runBlocking` nor `withCoroutine`.
  ///
  /// - Parameter number: Which one; SIGQUIT if left out.
  /// - Returns: False if it has been armed or disabled before, or if the process handles or ignores that signal.
  @discardableResult
  public static func arm(_ number: Int32? = nil) -> Bool {
    lock.withUnobservedLock {
      guard state == .undecided else { return false }
      state = .disabled
      guard cck_signal_expect(number ?? SIGQUIT, { DumpSignal.serve() }) == 0 else { return false }
      state = .armed
      return true
    }
  }

  /// What each `runBlocking` and `withCoroutine` calls.
  static func armByDefault() {
    _ = byDefault
    cck_signal_keep_up()
  }

  private static let byDefault: Void = {
    if environment("COROUTINES_DUMP_SIGNAL") != "off" { arm() }
  }()

  private static func serve() {
    QuietThreads.stands { cck_signal_wait() }
    if let sight = ThreadSight.interrupted, let who = sight.coroutine {
      let stack = NamedFrames(of: sight.addresses).ownStack(sight.addresses)
      report(
        "\(who) blocked its thread in a call of the system's, which may have returned early for the signal. It was at"
          + stack.map { "\n    \($0)" }.joined()
      )
    }
    let dump = CoroutineDump.take()
    if let path = environment("COROUTINES_DUMP_FILE") {
      do {
        try dump.write(to: path)
        report("dump of coroutines written to \(path)")
        return
      } catch {
        report("\(error)")
      }
    }
    report("\(dump)")
  }

  private static func report(_ text: String) {
    "swift-coroutines: \(text)\n".withCString { cck_print_error($0) }
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// What happens when a program can do nothing any more: its coroutines wait, and no thread of the process is left
/// that could wake one.
///
/// | what | how it is found | what is done |
/// |---|---|---|
/// | all coroutines wait, inside `runBlocking`, and all threads of the process are loops that sleep | for certain, a tenth of a second after the last of them fell asleep (some seconds, if it was another thread's end that made it so) | `policy` |
/// | coroutines wait for each other in a ring, while others go on | for certain, when somebody looks: `CoroutineDump.cycles`, and the watchdog | reported |
/// | a promise is pending, and nothing that could settle it exists any more | at once, by counting references | it is rejected with `PromiseError.abandoned` |
/// | a channel's last `SendEnd`, or `ReceiveEnd`, of `Channel.makeEnds` is gone | at once, by counting references | the channel is closed |
/// | a coroutine waits for long, and its channel's ends are still held | suspected only | dumps tell since when, and by how many references |
///
/// The first kind is found only on Linux, and only while nobody in the process uses Dispatch, tasks, or threads of
/// their own: these might wake a coroutine, so nothing is certain, and nothing is said. There is no false alarm.
public enum DeadlockDetection {
  /// What to do.
  public enum Policy: Sendable, Hashable {
    /// Print a report with a dump of all coroutines to standard error, and end the process with status 2.
    case exit
    /// Print the report, once, and wait on.
    case report
    /// Do not look.
    case off
  }

  /// What to do when the program can do nothing any more; `exit` unless changed.
  public static var policy: Policy {
    get {
      switch stored.load(ordering: .relaxed) {
      case 0: .exit
      case 1: .report
      default: .off
      }
    }
    set {
      let number =
        switch newValue {
        case .exit: 0
        case .report: 1
        case .off: 2
        }
      stored.store(number, ordering: .relaxed)
    }
  }

  private static let stored = Atomic<Int>(0)

  static func found() {
    let policy = policy
    guard policy != .off else { return }
    let dump = CoroutineDump.take()
    let count = dump.entries.count
    let text = """

      Fatal error: deadlock. \
      \(count == 1 ? "1 coroutine waits" : "\(count) coroutines wait"), and no thread of the process is left that \
      could wake \(count == 1 ? "it" : "them").
      Below is what each of them waits for, and where it is. Look for the one that should have gone on: a channel \
      that nobody sends to or closes, a promise that nobody settles, a mutex that is held across a wait.

      \(dump)

      """
    text.withCString { cck_print_error($0) }
    guard policy == .exit else { return }
    fflush(nil)
    _exit(2)
  }
}

/// The sleep of a loop that nothing but another thread can wake.
struct QuietSleep {
  /// How long to sleep before looking whether there will ever be a wake-up, in nanoseconds: longer each time.
  private static let patience: [Int64] = [
    100_000_000, 1_000_000_000, 10_000_000_000, 60_000_000_000,
  ]

  /// How often it has slept through without being woken.
  private var round = 0

  /// Sleeps; may return early.
  ///
  /// The loop has announced that it sleeps, has no timers, and waits for no descriptor.
  ///
  /// - Parameters:
  ///   - core: The loop.
  ///   - isAwaited: `runBlocking` waits for its coroutines, and there are some.
  mutating func sleep(_ core: SchedulerCore, isAwaited: Bool) {
    let home = core.home
    if DeadlockDetection.policy == .off || core.outsideWaits > 0
      || currentPreemptionObserver() != nil
    {
      return home.sleep(atMost: -1)
    }
    if round == 0 {
      home.sleep(atMost: Self.patience[0])
    } else {
      let idle = OffloadPool.shared.sleepingThreads
      let isCertain = QuietThreads.enter(home, isAwaited: isAwaited, idle: idle)
      defer { QuietThreads.leave(home) }
      if isCertain {
        home.pointee.parker.retract()
        return DeadlockDetection.found()
      }
      home.sleep(atMost: Self.patience[min(round, Self.patience.count - 1)])
    }
    round = home.hasPost ? 0 : round + 1
  }
}

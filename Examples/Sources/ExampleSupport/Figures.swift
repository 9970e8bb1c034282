// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Glibc

/// Runs something, and prints how long it took, what processor time, and with how many threads.
///
/// - Parameters:
///   - label: What is run.
///   - threads: The counter that `work` notes the number of threads in.
///   - work: What to run.
/// - Returns: How long it took.
/// - Throws: What `work` throws.
@discardableResult
public func measure(
  _ label: String,
  _ threads: ThreadCount,
  _ work: () throws -> Void
) rethrows -> Duration {
  threads.reset()
  let (start, used) = (ContinuousClock.now, processorTime())
  try work()
  let took = ContinuousClock.now - start
  let cpu = processorTime() - used
  print(
    "  \(padded(label, 34)) \(padded(seconds(took), -9)) s   cpu \(padded(seconds(cpu), -7)) s   "
      + "threads \(threads.most)"
  )
  return took
}

/// A duration in seconds, to the millisecond.
///
/// - Parameter duration: The duration.
/// - Returns: Its text, without the unit.
public func seconds(_ duration: Duration) -> String {
  let milliseconds = Int((duration / .milliseconds(1)).rounded())
  let fraction = String(1000 + milliseconds % 1000).dropFirst()
  return "\(milliseconds / 1000).\(fraction)"
}

/// Text with spaces behind it, or before it if the width is negative.
private func padded(_ text: String, _ width: Int) -> String {
  let spaces = String(repeating: " ", count: max(0, abs(width) - text.count))
  return width < 0 ? spaces + text : text + spaces
}

/// Processor time of the process, all threads together.
private func processorTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// The longest time in which a scheduler did not get to a coroutine that wanted to run every millisecond.
public final class LoopWatch {
  /// The longest gap between two turns.
  public private(set) var longest = Duration.zero
  /// How often it had its turn.
  public private(set) var turns = 0

  /// A watch that does not run.
  public init() {}

  /// Claims that the scheduler was free for others, again and again.
  ///
  /// - Parameter checks: Gets the claim.
  public func check(_ checks: Checks) {
    checks.expect(
      turns > 3,
      "the loop ran others meanwhile: \(turns) turns, the longest pause \(seconds(longest)) s"
    )
  }

  /// Runs `work`, and watches the scheduler of the calling coroutine meanwhile.
  ///
  /// - Parameter work: What to run.
  /// - Returns: What it returns.
  /// - Throws: What it throws.
  public func run<Result>(_ work: () throws -> Result) throws -> Result {
    var last = ContinuousClock.now
    func note() {
      longest = max(longest, ContinuousClock.now - last)
      last = .now
    }
    let watcher = launch {
      while true {
        try Coroutine.sleep(for: .milliseconds(1))
        note()
        self.turns += 1
      }
    }
    defer {
      watcher.cancel()
      note()
    }
    return try work()
  }
}

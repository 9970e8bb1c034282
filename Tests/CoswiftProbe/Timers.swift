// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import coswift

/// Seconds to the next time that one of Dispatch's timers fires, as the system has them.
private func secondsToNextTimer() -> Int? {
  // When this far one is there, those that were started before it are, too.
  let last = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "last"))
  last.schedule(deadline: .now() + 100_000)
  last.resume()
  defer { last.cancel() }
  let end = ContinuousClock.now + .seconds(300)
  while ContinuousClock.now < end {
    if let seconds = secondsOfSystemTimers().min() { return seconds }
    sched_yield()
  }
  return nil
}

/// Seconds that the system's timers of this process have left.
private func secondsOfSystemTimers() -> [Int] {
  let folder = "/proc/self/fdinfo"
  let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  return names.compactMap { name in
    // The descriptor of a timer has such a line: `it_value: (4, 999000000)`.
    let text = (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("it_value: (") } ?? ""
    let numbers = line.split { !$0.isNumber }.compactMap { Int($0) }
    return numbers.allSatisfy { $0 == 0 } ? nil : numbers.first
  }
}

/// Whether `co_delay` throws outside a coroutine and leaves no timer behind; says what is wrong.
///
/// - Returns: All is well.
func delaysOutsideLeaveNoTimer() -> Bool {
  func isRefused() -> Bool {
    do {
      try co_delay(5000)
      return false
    } catch {
      return error as? COError == .invalidCoroutine
    }
  }
  // One queue with coroutines, and one without.
  let queue = DispatchQueue(label: "queue")
  let ended = DispatchSemaphore(value: 0)
  co_launch(queue: queue) { ended.signal() }
  ended.wait()
  let refusals = [
    isRefused(), queue.sync(execute: isRefused), DispatchQueue(label: "q").sync(execute: isRefused),
  ]
  // A timer that a block starts is registered by a block that comes after it, and another queue.
  for _ in 0..<3 { queue.sync {} }
  let seconds = secondsToNextTimer()
  // One would have been seen.
  let waiting = co_launch_now(queue: queue) {
    // What lies on the stack of one that waits at the end of the process counts as leaked.
    defer { ended.signal() }
    try co_delay(5000)
  }
  var secondsInside: Int?
  let end = ContinuousClock.now + .seconds(300)
  while secondsInside ?? .max > 5000, ContinuousClock.now < end {
    queue.sync {}
    secondsInside = secondsToNextTimer()
  }
  waiting.cancel()
  ended.wait()
  // Behind the block that ends it.
  queue.sync {}
  print(
    "refused: \(refusals), next timer: \(seconds as Any), with a delay: \(secondsInside as Any)"
  )
  return !refusals.contains(false) && seconds ?? 0 > 5000 && secondsInside ?? .max <= 5000
}

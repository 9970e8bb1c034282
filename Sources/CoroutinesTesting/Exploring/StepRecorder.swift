// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Coroutines

/// Notes what each step of a run touches inside the library.
///
/// What the loop itself does between two steps (work that was posted to it, say) comes at once after the step
/// that caused it, whoever runs next: it belongs to that step.
final class StepRecorder: PreemptionObserver, StepWatcher {
  private var steps: [ExploredStep] = []
  /// The step that is going on, or was the last.
  private var current: Int?
  private var period = 0
  /// The same in each run: coroutines get their numbers as they become ready.
  private var numbers: [UInt64: Int] = [:]
  /// Those that are ready, by the step that made them so.
  private var readied: [Int: Int?] = [:]

  private init() {}

  /// Runs `body`, whose coroutines all run on `loop`.
  ///
  /// - Returns: What they did.
  static func record(
    _ loop: SteppedLoop,
    _ body: () throws -> Void
  ) throws -> [ExploredStep] {
    let recorder = StepRecorder()
    loop.watcher = recorder
    defer { loop.watcher = nil }
    var result: Result<Void, any Error> = .success(())
    withPreemptionObserver(recorder) { result = Result(catching: body) }
    try result.get()
    return recorder.steps
  }

  private func number(_ coroutine: Coroutine) -> Int {
    if let known = numbers[coroutine.id] { return known }
    numbers[coroutine.id] = numbers.count
    return numbers.count - 1
  }

  // MARK: - StepWatcher

  func willRun(_ index: Int, of ready: [Coroutine], isForced: Bool) {
    let candidates = ready.map(number)
    for (candidate, coroutine) in zip(candidates, ready) where readied[candidate] == nil {
      // With an optional inside: nil if time did it.
      readied.updateValue(current, forKey: candidate)
      // Whoever cancels a coroutine does something else if it is ready.
      note(coroutine.fiber)
    }
    let chosen = candidates[index]
    let readiedBy = readied.removeValue(forKey: chosen) ?? nil
    current = steps.count
    steps.append(
      ExploredStep(
        kind: isForced ? .continuation : .coroutine,
        candidates: isForced ? [chosen] : candidates,
        chosen: chosen,
        readiedBy: readiedBy,
        period: period,
        // Whoever cancels a coroutine, or looks whether it has ended, touches this.
        footprint: [UInt(bitPattern: ready[index].fiber)]
      )
    )
  }

  func willTakeClause(_ index: Int, of ready: [Int]) {
    steps.append(
      ExploredStep(
        kind: .clause,
        candidates: ready,
        chosen: ready[index],
        readiedBy: nil,
        period: period
      )
    )
  }

  func didLaunch() { note(nil) }

  func willJump() {
    period += 1
    current = nil
  }

  // MARK: - PreemptionObserver

  func note(_ address: UnsafeRawPointer?) {
    guard let current else { return }
    if let address {
      steps[current].footprint.insert(UInt(bitPattern: address))
    } else {
      steps[current].touchesAll = true
    }
  }

  func reach(_ point: PreemptionPoint, _ address: UnsafeRawPointer) {
    // The loop looks into its inbox after each step; who brings something there has said so.
    if point != .take { note(address) }
  }

  func willLock(_ address: UnsafeRawPointer) { note(address) }

  func didUnlock(_ address: UnsafeRawPointer) {}

  func sleep(in parker: UnsafeMutablePointer<Parker>, atMost timeout: Int64) {
    cck_parker_sleep(parker, timeout)
  }

  // It holds nobody up.
  func keep(_ home: UnsafeMutablePointer<Home>) -> Bool { false }

  var now: Int64 { cck_clock_now() }
}

// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Dispatch
import Synchronization

/// A look at one scheduler's coroutines.
final class Look: @unchecked Sendable {
  // SAFETY: `isAwaited` is guarded by the desk's lock. `sightings` is written once at most, with that lock, while it
  // is, and read when it is not any more. `isDone` belongs to whoever takes the dump.

  private let core: SchedulerCore
  private let done = DispatchSemaphore(value: 0)
  private var sightings: [CoroutineDump.Entry] = []
  fileprivate var isAwaited = true
  private var isDone = false
  /// Something was on its way to the scheduler before the look was.
  private var hadPost = false

  init(at core: SchedulerCore) { self.core = core }

  func begin() {
    // Before the post: else neither might find the other.
    if LookDesk.enter(self, at: core) { return }
    hadPost = core.home.hasPost
    // Nobody would run what is posted to a scheduler that is over, or that nobody steps.
    guard liveCount > 0 || core.isPool || hadPost else {
      isDone = true
      return
    }
    let posted = core.postFromOutside { [self] in
      // What was posted before, and comes with this, is in line only when this has returned.
      let again = core.post { [self] in
        if LookDesk.awaits(self) { LookDesk.answer(self, Sightings(core).all) }
      }
      if !again { LookDesk.answer(self, []) }
    }
    isDone = !posted
  }

  /// Number of its coroutines that have begun.
  private var startedCount: Int { Int(cck_stack_count(core.home)) }

  /// Number of its coroutines, as far as others than the holder of the turn can know.
  private var liveCount: Int {
    let (launched, ended) = core.home.tally
    // The scheduler of a queue keeps no other count, and those that a pool's loop launches may end on another.
    return max(core.home.live, startedCount, core.isPool ? 0 : launched - ended)
  }

  /// Called with the desk's lock.
  fileprivate func answer(_ found: [CoroutineDump.Entry]) {
    guard isAwaited else { return }
    isAwaited = false
    sightings = found
    done.signal()
  }

  func wait(until deadline: DispatchTime) {
    if !isDone { isDone = done.wait(timeout: deadline) == .success }
    LookDesk.leave(self, at: core)
  }

  /// Nobody has begun there who could be woken, so what is on its way was launched.
  private static let unbegun = "; what has been launched on it has not begun"

  /// What there is to tell of the scheduler, if anything, and its coroutines.
  var result: (CoroutineDump.SchedulerEntry, [CoroutineDump.Entry])? {
    let number = core.home.pointee.threadNumber.load(ordering: .relaxed)
    let live = isDone ? sightings.count : liveCount
    if live == 0, isDone || !hadPost { return nil }
    let sight = isDone ? nil : ThreadSight(of: number, at: core.home)
    let entry = CoroutineDump.SchedulerEntry(
      label: core.label,
      liveCount: live,
      thread: number == 0 ? nil : Int(number),
      silence: isDone ? nil : sight.silence + (startedCount == 0 ? Self.unbegun : ""),
      running: sight?.identifier,
      addresses: sight?.addresses ?? []
    )
    return (entry, isDone ? sightings : [])
  }
}

extension ThreadSight? {
  /// Why a scheduler has not answered.
  fileprivate var silence: String {
    guard let self else {
      return
        "nobody runs it now: its thread, or its queue, is not served, or is busy with something else"
    }
    guard let who = self.coroutine else { return "its thread is busy outside any coroutine" }
    return "\(who) has not parked since it was asked: it \(self.whatItDoes)"
  }
}

/// Where looks at schedulers meet dumps that their own threads take.
///
/// Who takes a dump inside a scheduler holds its turn until the others have answered, so it does not answer what is
/// posted to it meanwhile, and two that do so at a time would wait for each other. Therefore it lays out what it has
/// seen of its own coroutines, none of which runs as long as it waits: that is the answer to every look that is
/// under way, and to all that come until it is done.
enum LookDesk {
  private static let lock = AllocatedLock()
  // SAFETY: both are guarded by `lock`.
  nonisolated(unsafe) private static var laidOut: [ObjectIdentifier: [CoroutineDump.Entry]] = [:]
  nonisolated(unsafe) private static var underWay: [ObjectIdentifier: [Look]] = [:]

  /// The holder of a scheduler's turn takes a dump, and has seen this.
  static func open(_ core: SchedulerCore, _ sightings: [CoroutineDump.Entry]) {
    lock.withUnobservedLock {
      laidOut[ObjectIdentifier(core)] = sightings
      for look in underWay[ObjectIdentifier(core)] ?? [] { look.answer(sightings) }
    }
  }

  /// It has taken its dump.
  static func close(_ core: SchedulerCore) {
    lock.withUnobservedLock { laidOut[ObjectIdentifier(core)] = nil }
  }

  /// A look begins.
  ///
  /// - Returns: It has been answered.
  static func enter(_ look: Look, at core: SchedulerCore) -> Bool {
    lock.withUnobservedLock {
      if let sightings = laidOut[ObjectIdentifier(core)] {
        look.answer(sightings)
        return true
      }
      underWay[ObjectIdentifier(core), default: []].append(look)
      return false
    }
  }

  /// Somebody still waits for an answer.
  static func awaits(_ look: Look) -> Bool { lock.withUnobservedLock { look.isAwaited } }

  /// The holder of the scheduler's turn has seen this.
  static func answer(_ look: Look, _ sightings: [CoroutineDump.Entry]) {
    lock.withUnobservedLock { look.answer(sightings) }
  }

  /// A look is over, answered or not.
  static func leave(_ look: Look, at core: SchedulerCore) {
    lock.withUnobservedLock {
      look.isAwaited = false
      let rest = (underWay[ObjectIdentifier(core)] ?? []).filter { $0 !== look }
      underWay[ObjectIdentifier(core)] = rest.isEmpty ? nil : rest
    }
  }
}

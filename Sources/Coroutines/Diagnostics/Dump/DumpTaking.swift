// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Dispatch
import Synchronization

extension CoroutineDump {
  /// Takes a dump.
  ///
  /// May be called from anywhere, inside coroutines and outside. Does not park: the thread waits for the other
  /// schedulers' answers, which normally takes microseconds.
  ///
  /// - Parameter patience: How long to wait for schedulers that do not answer.
  /// - Returns: The dump.
  public static func take(within patience: Duration = .milliseconds(250)) -> CoroutineDump {
    let cores = SchedulerRoster.all
    let looks = cores.map { Look(at: $0) }
    for look in looks { look.begin() }
    let deadline = DispatchTime.now() + .nanoseconds(Int(clamping: patience.saturatedNanoseconds))
    for look in looks { look.wait(until: deadline) }
    return CoroutineDump(looks)
  }

  private init(_ looks: [Look]) {
    var entries: [Entry] = []
    var schedulers: [SchedulerEntry] = []
    for look in looks {
      let (entry, sightings) = look.result
      if sightings.isEmpty, entry.liveCount == 0 { continue }
      for var sighting in sightings {
        sighting.scheduler = schedulers.count
        entries.append(sighting)
      }
      schedulers.append(entry)
    }
    entries.sort { $0.id < $1.id }
    Self.findParents(&entries)
    time = Double(cck_clock_wall()) / 1e9
    self.entries = entries
    self.schedulers = schedulers
  }

  private static func findParents(_ entries: inout [Entry]) {
    var owners: [UInt: UInt64] = [:]
    for entry in entries { for list in entry.lists { owners[list] = entry.id } }
    for index in entries.indices {
      entries[index].parent = entries[index].membership.flatMap { owners[$0] }
    }
  }
}

/// A look at one scheduler's coroutines.
private final class Look: @unchecked Sendable {
  // SAFETY: `sightings` is written by the holder of the scheduler's turn, before `done` is signalled, and read after
  // that; nobody reads it if the signal does not come in time. `isDone` belongs to whoever takes the dump.

  private let core: SchedulerCore
  private let done = DispatchSemaphore(value: 0)
  private var sightings: [CoroutineDump.Entry] = []
  private var isDone = false
  private var isOver = false

  init(at core: SchedulerCore) { self.core = core }

  func begin() {
    if currentThread().currentHome == core.home {
      sightings = Sightings(core).all
      isDone = true
      return
    }
    // Nobody would run what is posted to a scheduler that is over, or that nobody steps.
    guard startedCount > 0 || core.home.live > 0 || core.isPool || core.home.hasPost else {
      isDone = true
      return
    }
    let posted = core.post { [self] in
      // What was posted before, and comes with this, is in line only when this has returned.
      let again = core.post { [self] in
        sightings = Sightings(core).all
        done.signal()
      }
      if !again { done.signal() }
    }
    isOver = !posted
    isDone = isOver
  }

  /// Number of its coroutines that have begun; the scheduler of a queue counts no others.
  private var startedCount: Int { Int(cck_stack_count(core.home)) }

  func wait(until deadline: DispatchTime) {
    if !isDone { isDone = done.wait(timeout: deadline) == .success }
  }

  var result: (CoroutineDump.SchedulerEntry, [CoroutineDump.Entry]) {
    let number = core.home.pointee.threadNumber.load(ordering: .relaxed)
    let live = isDone ? sightings.count : max(core.home.live, startedCount)
    let sight = isDone ? nil : ThreadSight(of: number, at: core.home)
    let entry = CoroutineDump.SchedulerEntry(
      label: core.label,
      liveCount: live,
      thread: number == 0 ? nil : Int(number),
      silence: isDone ? nil : sight.silence,
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

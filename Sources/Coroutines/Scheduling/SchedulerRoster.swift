// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// All schedulers that there are: where dumps, counters and the watchdog begin.
package enum SchedulerRoster {
  private struct Member {
    let number: UInt64
    weak var core: SchedulerCore?
    /// What counts; the scheduler's until it leaves.
    let home: UnsafeMutablePointer<Home>
    let name: SchedulerName
    let kind: RuntimeMetrics.SchedulerKind
  }

  private static let lock = AllocatedLock()
  // SAFETY: all guarded by `lock`.
  nonisolated(unsafe) private static var members: [ObjectIdentifier: Member] = [:]
  nonisolated(unsafe) private static var lastNumber: UInt64 = 0
  /// What those have counted that have left.
  nonisolated(unsafe) private static var launchedBefore = 0
  nonisolated(unsafe) private static var endedBefore = 0

  static func enter(_ core: SchedulerCore, _ name: SchedulerName) {
    lock.withUnobservedLock {
      lastNumber += 1
      members[ObjectIdentifier(core)] = Member(
        number: lastNumber,
        core: core,
        home: core.home,
        name: name,
        kind: core.kind
      )
    }
  }

  static func leave(_ core: SchedulerCore) {
    lock.withUnobservedLock {
      guard let member = members.removeValue(forKey: ObjectIdentifier(core)) else { return }
      let tally = member.home.tally
      launchedBefore += tally.launched
      endedBefore += tally.ended
    }
  }

  /// What each has counted, the oldest first, and what those counted that have left.
  static var counts:
    (schedulers: [RuntimeMetrics.SchedulerMetrics], launchedBefore: Int, endedBefore: Int)
  {
    lock.withUnobservedLock {
      let schedulers = members.values.sorted { $0.number < $1.number }.map { member in
        let tally = member.home.tally
        return RuntimeMetrics.SchedulerMetrics(
          number: Int(clamping: member.number),
          name: member.name.text,
          kind: member.kind,
          launched: tally.launched,
          ended: tally.ended,
          sleeps: member.home.sleepCount,
          wakeUps: member.home.wakeUpCount
        )
      }
      return (schedulers, launchedBefore, endedBefore)
    }
  }

  /// Those that are there now, the oldest first.
  package static var all: [SchedulerCore] {
    // A scheduler that is on its way out is in the list, but no reference to it is to be had any more.
    let cores = lock.withUnobservedLock {
      members.values.compactMap { member in member.core.map { (member.number, $0) } }
    }
    return cores.sorted { $0.0 < $1.0 }.map(\.1)
  }
}

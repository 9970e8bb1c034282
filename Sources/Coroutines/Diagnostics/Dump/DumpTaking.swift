// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Dispatch

extension CoroutineDump {
  /// Takes a dump.
  ///
  /// May be called from anywhere, inside coroutines and outside. Does not park: the thread waits for the other
  /// schedulers' answers, which normally takes microseconds.
  ///
  /// - Parameter patience: How long to wait for schedulers that do not answer.
  /// - Returns: The dump.
  public static func take(within patience: Duration = .milliseconds(250)) -> CoroutineDump {
    let here = currentThread().currentHome
    let cores = SchedulerRoster.all
    let own = cores.first { $0.home == here }.map { ($0, Sightings($0).all) }
    if let own { LookDesk.open(own.0, own.1) }
    defer { if let own { LookDesk.close(own.0) } }
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
      guard let (entry, sightings) = look.result else { continue }
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

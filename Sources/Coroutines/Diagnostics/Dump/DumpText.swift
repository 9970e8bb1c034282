// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A dump, for people.
struct DumpText {
  private let dump: CoroutineDump
  private let names: NamedFrames

  /// So many of those at one place are named.
  private static let namedLimit = 8

  init(_ dump: CoroutineDump) {
    self.dump = dump
    names = dump.names
  }

  var text: String {
    let count = dump.schedulers.reduce(0) { $0 + $1.liveCount }
    var lines = [
      "Coroutines of process \(getpid()): \(count) \(count == 1 ? "has" : "have") not ended."
    ]
    for cycle in dump.cycles {
      let names = (cycle + cycle.prefix(1)).map(Self.name).joined(separator: " → ")
      lines.append("Deadlock: each of these waits for the next: \(names)")
    }
    for (index, scheduler) in dump.schedulers.enumerated() {
      lines.append("")
      lines += head(of: scheduler)
      for group in groups(of: index) { lines += ["  "] + body(of: group).map { "  " + $0 } }
    }
    return lines.map { $0.allSatisfy { $0 == " " } ? "" : $0 }.joined(separator: "\n")
  }

  private func head(of scheduler: CoroutineDump.SchedulerEntry) -> [String] {
    var lines = [
      "\(scheduler.label), \(scheduler.liveCount) live"
        + (scheduler.thread.map { ", thread \($0)" } ?? "")
    ]
    if let silence = scheduler.silence {
      lines.append("  gives no answer: \(silence)")
      lines += stack(scheduler.addresses)
    }
    return lines
  }

  // MARK: - Coroutines

  /// Of one alone.
  static func text(of entry: CoroutineDump.Entry) -> String {
    let dump = CoroutineDump(time: 0, schedulers: [], entries: [entry])
    return DumpText(dump).body(of: [entry]).joined(separator: "\n")
  }

  /// Coroutines that are at the same place for the same reason are one paragraph, whose place in the text is that
  /// of the first of them.
  private func groups(of scheduler: Int) -> [[CoroutineDump.Entry]] {
    struct Place: Hashable {
      let state: Coroutine.State
      let operation: String?
      let site: String
      let stack: [String]
    }
    // Most have a stack that another one has, too. Those that differ in addresses only, as one that parked when nobody else
    // was ready, look the same.
    var shown: [[UInt]: [String]] = [:]
    var order: [Place] = []
    var members: [Place: [CoroutineDump.Entry]] = [:]
    for entry in dump.entries where entry.scheduler == scheduler {
      let stack =
        shown[entry.addresses] ?? names.ownStack(entry.addresses).map(\.description)
      shown[entry.addresses] = stack
      let place = Place(
        state: entry.state,
        operation: entry.wait?.operation,
        site: entry.creationSite.description,
        stack: stack
      )
      if members[place] == nil { order.append(place) }
      members[place, default: []].append(entry)
    }
    return order.compactMap { members[$0] }
  }

  private func body(of group: [CoroutineDump.Entry]) -> [String] {
    guard let first = group.first else { return [] }
    var lines: [String] = []
    if group.count == 1 {
      lines.append("coroutine \(Self.name(first)) \(state(of: [first]))")
    } else {
      let named = group.prefix(Self.namedLimit).map(Self.name).joined(separator: ", ")
      let rest = group.count - Self.namedLimit
      lines.append(
        "\(group.count) coroutines \(named)\(rest > 0 ? " and \(rest) more" : "") \(state(of: group))"
      )
    }
    lines += subjects(of: group)
    lines.append("  launched at \(first.creationSite)" + parents(of: group))
    let used = group.compactMap(\.stackUsed)
    if let most = used.max() {
      lines.append("  at most \((most + 1023) >> 10) of \(first.stackSize >> 10) KiB of stack used")
    }
    return lines + stack(first.addresses)
  }

  private static func name(_ entry: CoroutineDump.Entry) -> String {
    "#\(entry.id)" + (entry.name.map { " \"\($0)\"" } ?? "")
  }

  private func state(of group: [CoroutineDump.Entry]) -> String {
    guard let first = group.first else { return "" }
    let cancelled = group.allSatisfy(\.isCancelled) ? ", cancelled" : ""
    guard let wait = first.wait else {
      let hasBegun = first.state != .ready || !first.addresses.isEmpty
      return "\(first.state)\(hasBegun ? "" : " to begin")\(cancelled)"
    }
    let durations = group.compactMap { $0.wait?.duration }
    let least = Self.text(of: durations.min() ?? .zero)
    let most = Self.text(of: durations.max() ?? .zero)
    var text =
      "\(group.count == 1 ? "waits" : "wait") in \(wait.operation) for \(least)\(least == most ? "" : " to \(most)")"
    if let left = group.compactMap({ $0.wait?.timeLeft }).min() {
      text += ", until a timer in \(Self.text(of: left))"
    }
    return text + cancelled
  }

  private func subjects(of group: [CoroutineDump.Entry]) -> [String] {
    var lines: [String] = []
    for subject in group.compactMap(\.wait).flatMap(\.subjects) {
      let line = "  on \(subject.description)" + (subject.details.map { ": \($0)" } ?? "")
      if lines.contains(line) { continue }
      if lines.count == Self.namedLimit {
        lines.append("  and others")
        break
      }
      lines.append(line)
    }
    return lines
  }

  private func parents(of group: [CoroutineDump.Entry]) -> String {
    let parents = Set(group.compactMap(\.parent))
    guard let parent = parents.first else { return "" }
    return parents.count == 1 ? " by #\(parent)" : " by \(parents.count) coroutines"
  }

  // MARK: - Stacks and times

  private func stack(_ addresses: [UInt]) -> [String] {
    names.ownStack(addresses).map { "    \($0)" }
  }

  /// `1.5 s`, `12 ms`, `3 min`.
  static func text(of duration: Duration) -> String {
    let seconds = Double(duration.saturatedNanoseconds) / 1e9
    func rounded(_ value: Double) -> String {
      value < 10 ? "\((value * 10).rounded() / 10)" : "\(Int(value.rounded()))"
    }
    switch seconds {
    case ..<0.000_001: return "0 s"
    case ..<0.001: return rounded(seconds * 1e6) + " µs"
    case ..<1: return rounded(seconds * 1e3) + " ms"
    case ..<120: return rounded(seconds) + " s"
    case ..<7200: return rounded(seconds / 60) + " min"
    default: return rounded(seconds / 3600) + " h"
    }
  }
}

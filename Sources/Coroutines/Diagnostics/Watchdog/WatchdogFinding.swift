// SPDX-License-Identifier: Apache-2.0

/// Something that a watchdog has found.
public enum WatchdogFinding: Sendable, CustomStringConvertible {
  /// A coroutine keeps the others of its scheduler from running: it computes, or blocks the thread in a call.
  ///
  /// - `scheduler`: What scheduler.
  /// - `coroutine`: Which one it is now: `coroutine #9 "fetch"`; nil if the thread is busy outside any.
  /// - `what`: What it does: `computes`.
  /// - `isCancelled`: That coroutine has been cancelled, or a scope that it is in.
  /// - `duration`: How long the scheduler has been held up so far; others may have had a part in it.
  /// - `stack`: Where it is; the innermost place first.
  case heldUp(
    scheduler: String,
    coroutine: String?,
    what: String,
    isCancelled: Bool,
    duration: Duration,
    stack: [StackFrame]
  )

  /// The scheduler goes on after it was held up.
  case goesOn(scheduler: String, duration: Duration)

  /// Nobody runs a scheduler's coroutines, although there are some: its queue is not served, or busy.
  case notServed(scheduler: String, duration: Duration)

  /// Coroutines wait for each other in a ring, and cannot go on by themselves; see `CoroutineDump.cycles`.
  case cycle([CoroutineDump.Entry])

  /// A channel has come to keep many values: more is sent than received.
  case growingChannel(name: String?, creationSite: SourceSite, room: Int)

  /// What happened, to what, and what to do.
  public var description: String {
    switch self {
    case .heldUp(let scheduler, let coroutine, let what, let isCancelled, let duration, let stack):
      "\(scheduler) has been held up for \(DumpText.text(of: duration)), at last by "
        + "\(coroutine ?? "its thread, outside any coroutine"): it \(what). All other coroutines there wait. "
        + (isCancelled
          ? "Each wait in it throws an error at once: let that out of `try?` or `catch`, or look at "
            + "`Coroutine.isCancelled`.\n"
          : "Call `Coroutine.yield()` now and then, or do it in `offload { }`.\n")
        + NamedFrames(of: stack.map(\.address)).ownStack(stack.map(\.address))
        .map { "    \($0)" }.joined(separator: "\n")
    case .goesOn(let scheduler, let duration):
      "\(scheduler) goes on. It was held up for \(DumpText.text(of: duration))."
    case .notServed(let scheduler, let duration):
      "Nobody has run the coroutines of \(scheduler) for \(DumpText.text(of: duration)). If it is a dispatch "
        + "queue, it is suspended or busy; the main queue needs `dispatchMain()` or a run loop."
    case .cycle(let cycle):
      "Deadlock: each of these waits for the next, and none can go on unless one is cancelled: "
        + (cycle + cycle.prefix(1)).map { "#\($0.id)" + ($0.name.map { " \"\($0)\"" } ?? "") }
        .joined(separator: " → ")
        + cycle.map { entry in
          "\n    #\(entry.id), launched at \(entry.creationSite), waits in \(entry.wait?.operation ?? "?")"
            + (entry.wait?.subjects.first.map { " on \($0.description)" } ?? "")
        }.joined()
    case .growingChannel(let name, let site, let room):
      "The channel \(name.map { "\"\($0)\" " } ?? "")made at \(site) keeps so many values that it has made room for \(room). More is sent than "
        + "received: give it a capacity, so that senders wait, or receive faster."
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

/// Goes through a trace's events once, and follows each coroutine and each slot of a channel.
struct TimelineBuilder {
  private typealias Point = Timeline.Point

  /// A coroutine, as far as its story has been told.
  private struct Life {
    var current: Timeline.Stretch?
    /// It was made ready before it had told that it waits.
    var isWokenEarly = false
    /// Arrows that end where it goes on.
    var incoming: [Timeline.Arrow] = []
  }

  private struct Slot: Hashable {
    let channel: Int
    let slot: Int
  }

  private(set) var timeline = Timeline()
  private var lives: [Life] = []
  private var numbers: [UInt64: Int] = [:]
  private var operations: [String: Int] = [:]
  private var sleeping: [Int: Int64] = [:]
  private var working: [Int: (since: Int64, coroutine: Int)] = [:]
  private var kept: [Slot: Point] = [:]
  /// When what a timer has just ended on this lane should have ended.
  private var due: (lane: Int, time: Int64)?

  /// The timeline of a trace.
  static func build(_ trace: Trace) -> Timeline {
    var builder = TimelineBuilder()
    for event in trace.events { builder.take(event) }
    builder.finish(at: nanoseconds(trace.duration))
    return builder.timeline
  }

  mutating func take(_ event: Trace.Event) {
    let coroutine = event.coroutine.map { number(of: $0) } ?? -1
    let here = Point(time: event.nanoseconds, coroutine: coroutine, lane: event.lane)
    if due?.lane == event.lane, !event.kind.mayFollowTimer { due = nil }
    switch event.kind {
    case .launched(let parent):
      if coroutine >= 0 { launch(here, by: parent) }
    case .resumed: if coroutine >= 0 { run(here) }
    case .parked(let operation, let subject): park(here, operation, subject)
    case .yielded: begin(.ready, here)
    case .woken(let waker):
      wake(here, by: waker)
      // Whom a timer wakes, it wakes first.
      due = nil
    case .ended(let ending):
      timeline.endings[coroutine] = ending
      if ending == .error { mark(.failure, here) }
      endCurrent(coroutine, at: here.time)
    case .cancelled: mark(.cancel, here)
    case .closed(let channel): mark(.close, here, channel)
    case .dropped(let channel): mark(.drop, here, channel)
    case .timerFired(let late):
      mark(.timer, here)
      due = (event.lane, here.time - nanoseconds(late))
    case .sent(let channel, .coroutine(let receiver)):
      if let receiver {
        let number = number(of: receiver)
        lives[number].incoming.append(arrow(.message, from: here, to: here, channel))
      }
    case .sent(let channel, .slot(let slot)): kept[Slot(channel: channel, slot: slot)] = here
    case .received(let channel, .coroutine(let sender)): meet(here, channel, sender)
    case .received(let channel, .slot(let slot)):
      if let origin = kept.removeValue(forKey: Slot(channel: channel, slot: slot)) {
        timeline.arrows.append(arrow(.message, from: origin, to: here, channel))
      }
    case .grown(let channel, let head, let slots): grow(channel, head, slots)
    case .fellAsleep: sleeping[event.lane] = here.time
    case .wokeUp:
      if let since = sleeping.removeValue(forKey: event.lane) {
        timeline.laneStretches.append(
          .init(lane: event.lane, start: since, end: here.time, coroutine: -1)
        )
      }
    case .offloadBegan: working[event.lane] = (here.time, coroutine)
    case .offloadEnded: endWork(event.lane, at: here.time)
    }
  }

  private mutating func finish(at end: Int64) {
    for coroutine in lives.indices { endCurrent(coroutine, at: end) }
    for lane in sleeping.keys.sorted() {
      guard let since = sleeping[lane] else { continue }
      timeline.laneStretches.append(
        .init(lane: lane, start: since, end: max(since, end), coroutine: -1)
      )
    }
    for lane in working.keys.sorted() { endWork(lane, at: end) }
    timeline.stretches.sort { ($0.start, $0.coroutine) < ($1.start, $1.coroutine) }
    timeline.laneStretches.sort { ($0.start, $0.lane) < ($1.start, $1.lane) }
    timeline.arrows.sort { ($0.from.time, $0.to.time) < ($1.from.time, $1.to.time) }
  }

  // MARK: - Lives

  private mutating func number(of id: UInt64) -> Int {
    if let known = numbers[id] { return known }
    numbers[id] = lives.count
    lives.append(Life())
    timeline.coroutines.append(id)
    timeline.endings.append(nil)
    return lives.count - 1
  }

  private mutating func endCurrent(_ coroutine: Int, at time: Int64) {
    guard var stretch = lives[coroutine].current else { return }
    lives[coroutine].current = nil
    stretch.end = max(stretch.start, time)
    timeline.stretches.append(stretch)
  }

  private mutating func begin(_ state: Timeline.State, _ here: Point) {
    guard here.coroutine >= 0 else { return }
    let last = lives[here.coroutine].current?.lane
    let lane = state == .running ? here.lane : last ?? here.lane
    endCurrent(here.coroutine, at: here.time)
    lives[here.coroutine].current = Timeline.Stretch(
      coroutine: here.coroutine,
      state: state,
      start: here.time,
      end: here.time,
      lane: lane
    )
  }

  private mutating func launch(_ here: Point, by parent: UInt64?) {
    begin(.ready, here)
    let origin = Point(
      time: here.time,
      coroutine: parent.map { number(of: $0) } ?? -1,
      lane: here.lane
    )
    if parent != nil {
      lives[here.coroutine].incoming.append(arrow(.launch, from: origin, to: here, -1))
    }
  }

  private mutating func run(_ here: Point) {
    begin(.running, here)
    lives[here.coroutine].isWokenEarly = false
    let incoming = lives[here.coroutine].incoming
    lives[here.coroutine].incoming = []
    for var arrow in incoming {
      arrow.to = here
      timeline.arrows.append(arrow)
    }
  }

  private mutating func park(_ here: Point, _ operation: String, _ subject: Trace.Subject?) {
    guard here.coroutine >= 0 else { return }
    begin(.parked, here)
    let call = index(of: operation)
    lives[here.coroutine].current?.operation = call
    switch subject {
    case .object(let object): lives[here.coroutine].current?.object = object
    case .coroutine(let id):
      let awaited = number(of: id)
      lives[here.coroutine].current?.awaited = awaited
    case nil: break
    }
    // Another thread was faster than the coroutine on its way to sleep.
    if lives[here.coroutine].isWokenEarly { begin(.ready, here) }
  }

  private mutating func wake(_ here: Point, by waker: UInt64?) {
    guard here.coroutine >= 0 else { return }
    let origin = Point(
      time: here.time,
      coroutine: waker.map { number(of: $0) } ?? -1,
      lane: here.lane
    )
    if let current = lives[here.coroutine].current, current.state == .running {
      lives[here.coroutine].isWokenEarly = true
    } else {
      // Since its timer was due it has waited for its loop only.
      var from = here
      if let due, due.lane == here.lane {
        from.time = max(due.time, lives[here.coroutine].current?.start ?? 0)
      }
      begin(.ready, from)
    }
    // A value's arrow shows the same.
    let isMessage = lives[here.coroutine].incoming.contains {
      $0.kind == .message && $0.from.coroutine == origin.coroutine
    }
    if !isMessage {
      lives[here.coroutine].incoming.append(arrow(.wake, from: origin, to: here, -1))
    }
  }

  // MARK: - Values

  /// A value is taken from a sender that waits.
  private mutating func meet(_ here: Point, _ channel: Int, _ sender: UInt64?) {
    guard let sender else { return }
    let number = number(of: sender)
    guard let now = lives[number].current else { return }
    // It may still be on its way to sleep.
    let start = now.state == .parked ? now.start : here.time
    let origin = Point(time: start, coroutine: number, lane: now.lane)
    timeline.arrows.append(arrow(.message, from: origin, to: here, channel))
  }

  private mutating func grow(_ channel: Int, _ head: Int, _ slots: Int) {
    guard slots > 0 else { return }
    let moved = (0..<slots).map {
      kept.removeValue(forKey: Slot(channel: channel, slot: (head + $0) % slots))
    }
    for (slot, origin) in moved.enumerated() { kept[Slot(channel: channel, slot: slot)] = origin }
  }

  // MARK: - The rest

  private mutating func endWork(_ lane: Int, at time: Int64) {
    guard let work = working.removeValue(forKey: lane) else { return }
    timeline.laneStretches.append(
      .init(lane: lane, start: work.since, end: max(work.since, time), coroutine: work.coroutine)
    )
  }

  private mutating func mark(_ kind: Timeline.Mark.Kind, _ here: Point, _ object: Int = -1) {
    timeline.marks.append(Timeline.Mark(kind: kind, at: here, object: object))
  }

  private func arrow(
    _ kind: Timeline.Arrow.Kind,
    from: Point,
    to: Point,
    _ object: Int
  ) -> Timeline.Arrow {
    Timeline.Arrow(kind: kind, from: from, to: to, object: object)
  }

  private mutating func index(of operation: String) -> Int {
    if let known = operations[operation] { return known }
    operations[operation] = timeline.operations.count
    timeline.operations.append(operation)
    return timeline.operations.count - 1
  }
}

extension Trace.Kind {
  /// It may come between a timer and the wake that it leads to: a limit cancels first.
  fileprivate var mayFollowTimer: Bool {
    switch self {
    case .woken, .cancelled: true
    default: false
    }
  }
}

/// Whole nanoseconds of a duration.
func nanoseconds(_ duration: Duration) -> Int64 {
  let (seconds, attoseconds) = duration.components
  return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
}

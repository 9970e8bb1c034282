// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Coroutines

extension Trace {
  /// Reads what the rings hold.
  init(_ recording: Recorder.Recording) {
    let clock = TickClock(recording.span)
    var raw: [cck_trace_event_t] = []
    raw.reserveCapacity(recording.rings.reduce(0) { $0 + $1.count })
    for ring in recording.rings { raw += ring }
    // Stable, so what a thread did within one tick keeps its order.
    let order = raw.indices.sorted { (raw[$0].time, $0) < (raw[$1].time, $1) }

    var reader = Reader(recording.objects)
    var events: [Event] = []
    events.reserveCapacity(raw.count)
    for index in order {
      if let event = reader.read(raw[index], at: clock.nanoseconds(raw[index].time)) {
        events.append(event)
      }
    }
    self.events = events
    coroutines = reader.members
    objects = reader.objects
    let shared = Set(recording.lanes.filter { $0.number > 1 }.map(\.name))
    lanes = recording.lanes.map {
      Lane(
        name: shared.contains($0.name) ? "\($0.name) \($0.number)" : $0.name,
        isThread: $0.isThread
      )
    }
    duration = .nanoseconds(clock.nanoseconds(recording.span.last_tick))
    lostEvents = Int(clamping: recording.lost)
  }
}

/// Translates ticks into time: by the two ends of the recording, where both clocks were read.
private struct TickClock {
  private let first: UInt64
  private let rate: Double

  init(_ span: cck_trace_span_t) {
    first = span.first_tick
    let ticks = Double(span.last_tick &- span.first_tick)
    let time = Double(span.last_nanosecond - span.first_nanosecond)
    rate = ticks > 0 && time > 0 ? time / ticks : 1
  }

  /// Since the beginning.
  func nanoseconds(_ tick: UInt64) -> Int64 {
    tick <= first ? 0 : Int64((Double(tick - first) * rate).rounded())
  }
}

/// Gives recorded numbers their meaning.
private struct Reader {
  private(set) var members: [UInt64: Trace.Member] = [:]
  private(set) var objects: [Trace.Object] = []
  private let recorded: [Recorder.Object]
  /// Where in `objects` a recorded one is.
  private var places: [Int?]
  private var operations: [UInt64: String] = [:]

  init(_ recorded: [Recorder.Object]) {
    self.recorded = recorded
    places = Array(repeating: nil, count: recorded.count)
  }

  /// Nil if it only introduces somebody.
  mutating func read(_ raw: cck_trace_event_t, at time: Int64) -> Trace.Event? {
    guard let kind = kind(of: raw) else { return nil }
    return Trace.Event(
      nanoseconds: time,
      lane: Int(raw.lane),
      coroutine: raw.fiber == 0 ? nil : raw.fiber,
      kind: kind
    )
  }

  private mutating func kind(of raw: cck_trace_event_t) -> Trace.Kind? {
    let other = raw.other == 0 ? nil : raw.other
    switch TraceKind(rawValue: raw.kind) {
    case nil: return nil
    case .launch:
      introduce(raw.fiber, raw.object, parent: other)
      return .launched(by: other)
    case .meet:
      if members[raw.fiber] == nil { introduce(raw.fiber, raw.object, parent: nil) }
      return nil
    case .run: return .resumed
    case .park: return .parked(operation: operation(raw.other), on: subject(of: raw))
    case .yield: return .yielded
    case .end: return .ended(ending(raw.flags))
    case .wake: return .woken(by: other)
    case .cancel: return .cancelled(by: other)
    case .timer: return .timerFired(late: .nanoseconds(Int64(clamping: raw.other)))
    case .sleep: return .fellAsleep
    case .awake: return .wokeUp
    case .offload: return .offloadBegan
    case .offloaded: return .offloadEnded
    case .send: return place(of: raw.object).map { .sent($0, to: partner(raw)) }
    case .receive: return place(of: raw.object).map { .received($0, from: partner(raw)) }
    case .drop: return place(of: raw.object).map { .dropped($0) }
    case .close: return place(of: raw.object).map { .closed($0) }
    case .grow:
      let (head, slots) = (Int(raw.other >> 32), Int(raw.other & 0xffff_ffff))
      return place(of: raw.object).map { .grown($0, head: head, slots: slots) }
    }
  }

  private func ending(_ flags: UInt8) -> Trace.Ending {
    switch TraceEnd(rawValue: flags) {
    case .value, nil: .value
    case .error: .error
    case .cancelled: .cancelled
    }
  }

  private func partner(_ raw: cck_trace_event_t) -> Trace.Place {
    raw.flags == 1 ? .coroutine(raw.other == 0 ? nil : raw.other) : .slot(Int(raw.other))
  }

  private mutating func subject(of raw: cck_trace_event_t) -> Trace.Subject? {
    if raw.flags == 1 { return .coroutine(coroutine(endingIn: raw.object)) }
    return place(of: raw.object).map { .object($0) }
  }

  /// Recorded are the lower 32 bits; there are no two with the same in a process of less than 4 billion.
  private func coroutine(endingIn bits: UInt32) -> UInt64 { UInt64(bits) }

  private mutating func operation(_ address: UInt64) -> String {
    if let known = operations[address] { return known }
    // SAFETY: the address of a static string, which ends with a zero, as `Fiber.operation` has it.
    let text = UnsafePointer<CChar>(bitPattern: UInt(address)).map { String(cString: $0) }
    operations[address] = text ?? "an unknown call"
    return text ?? "an unknown call"
  }

  private mutating func introduce(_ id: UInt64, _ number: UInt32, parent: UInt64?) {
    let about = index(of: number).map { recorded[$0] }
    members[id] = Trace.Member(
      id: id,
      name: about?.name,
      creationSite: about?.site?.description,
      parent: parent
    )
  }

  private func index(of number: UInt32) -> Int? {
    let index = Int(number & 0xff_ffff) - 1
    return recorded.indices.contains(index) ? index : nil
  }

  private mutating func place(of number: UInt32) -> Int? {
    guard let index = index(of: number) else { return nil }
    if let place = places[index] { return place }
    let about = recorded[index]
    let kind: Trace.Object.Kind =
      switch about.kind {
      case .channel: .channel
      case .promise: .promise
      case .mutex: .mutex
      case .launch, .other: .other
      }
    places[index] = objects.count
    objects.append(
      Trace.Object(kind: kind, name: about.name, creationSite: about.site?.description)
    )
    return objects.count - 1
  }
}

// SPDX-License-Identifier: Apache-2.0

extension Trace {
  /// The trace in the Trace Event Format, which ui.perfetto.dev, chrome://tracing and Speedscope open.
  ///
  /// Two processes: "loops", with a thread for each scheduler, and "coroutines", with a thread for each coroutine.
  /// Slices say what runs, waits, or is ready to run; flows lead from a send to its receive and from a wake to the
  /// turn that it brought; counters show how many coroutines run, wait, and are ready.
  ///
  /// Takes time and memory in proportion to the number of events, some 300 bytes each.
  public var chromeJSON: String { ChromeTrace(self, TimelineBuilder.build(self)).text }
}

/// Writes a timeline in the Trace Event Format.
private struct ChromeTrace {
  private static let loops = 1
  private static let members = 2
  /// Samples of the counters, at most.
  private static let samples = 2000

  private let trace: Trace
  private let timeline: Timeline

  init(_ trace: Trace, _ timeline: Timeline) {
    self.trace = trace
    self.timeline = timeline
  }

  var text: String {
    var json = JSONWriter()
    json.object { json in
      json.key("displayTimeUnit")
      json.value("ns")
      json.key("otherData")
      json.object {
        $0.key("lostEvents")
        $0.value(trace.lostEvents)
      }
      json.key("traceEvents")
      json.array { json in
        writeNames(&json)
        writeSlices(&json)
        writeArrows(&json)
        writeMarks(&json)
        writeCounters(&json)
      }
    }
    json.newLine()
    return json.text
  }

  /// One event, with what all of them have; `body` adds to it.
  private func event(
    _ phase: String,
    _ name: String,
    _ process: Int,
    _ thread: Int,
    _ time: Int64?,
    _ json: inout JSONWriter,
    _ body: (inout JSONWriter) -> Void = { _ in }
  ) {
    json.newLine()
    json.object { json in
      json.key("ph")
      json.value(phase)
      json.key("name")
      json.value(name)
      json.key("pid")
      json.value(process)
      json.key("tid")
      json.value(thread)
      if let time {
        json.key("ts")
        json.microseconds(time)
      }
      body(&json)
    }
  }

  private func writeNames(_ json: inout JSONWriter) {
    name("process_name", "loops", Self.loops, 0, &json)
    name("process_name", "coroutines", Self.members, 0, &json)
    for (index, lane) in trace.lanes.enumerated() {
      name("thread_name", lane.name, Self.loops, index + 1, &json)
    }
    for (index, id) in timeline.coroutines.enumerated() {
      name("thread_name", trace.label(of: id), Self.members, index + 1, &json)
    }
  }

  private func name(
    _ what: String,
    _ name: String,
    _ process: Int,
    _ thread: Int,
    _ json: inout JSONWriter
  ) {
    event("M", what, process, thread, nil, &json) { json in
      json.key("args")
      json.object {
        $0.key("name")
        $0.value(name)
      }
    }
  }

  private func writeSlices(_ json: inout JSONWriter) {
    for stretch in timeline.stretches {
      let name = title(of: stretch)
      slice(name, Self.members, stretch.coroutine + 1, stretch.start, stretch.end, &json) { json in
        json.key("args")
        json.object { json in
          json.key("loop")
          json.value(laneName(stretch.lane))
          if stretch.object >= 0 {
            json.key("object")
            json.value(trace.label(of: trace.objects[stretch.object]))
          }
        }
      }
      guard stretch.state == .running else { continue }
      let runner = trace.label(of: timeline.coroutines[stretch.coroutine])
      slice(runner, Self.loops, stretch.lane + 1, stretch.start, stretch.end, &json)
    }
    for stretch in timeline.laneStretches {
      let name =
        stretch.coroutine < 0
        ? "asleep" : "offloaded for \(trace.label(of: timeline.coroutines[stretch.coroutine]))"
      slice(name, Self.loops, stretch.lane + 1, stretch.start, stretch.end, &json)
    }
  }

  private func laneName(_ lane: Int) -> String {
    trace.lanes.indices.contains(lane) ? trace.lanes[lane].name : "?"
  }

  private func title(of stretch: Timeline.Stretch) -> String {
    switch stretch.state {
    case .running: return "running"
    case .ready: return "ready"
    case .parked:
      let operation = stretch.operation < 0 ? "waiting" : timeline.operations[stretch.operation]
      guard stretch.awaited >= 0 else { return operation }
      return "\(operation) of \(trace.label(of: timeline.coroutines[stretch.awaited]))"
    }
  }

  private func slice(
    _ name: String,
    _ process: Int,
    _ thread: Int,
    _ start: Int64,
    _ end: Int64,
    _ json: inout JSONWriter,
    _ body: (inout JSONWriter) -> Void = { _ in }
  ) {
    event("X", name, process, thread, start, &json) { json in
      json.key("dur")
      json.microseconds(end - start)
      body(&json)
    }
  }

  private func writeArrows(_ json: inout JSONWriter) {
    for (index, arrow) in timeline.arrows.enumerated() {
      // An arrow needs a slice at both ends.
      guard arrow.from.coroutine >= 0, arrow.to.coroutine >= 0 else { continue }
      let name = ["message", "wake", "launch"][arrow.kind.rawValue]
      for (phase, point) in [("s", arrow.from), ("f", arrow.to)] {
        event(phase, name, Self.members, point.coroutine + 1, point.time, &json) { json in
          json.key("cat")
          json.value("flow")
          json.key("id")
          json.value(index + 1)
          if phase == "f" {
            json.key("bp")
            json.value("e")
          }
        }
      }
    }
  }

  private func writeMarks(_ json: inout JSONWriter) {
    for mark in timeline.marks {
      var name = ["cancelled", "closed", "dropped", "timer", "failed"][mark.kind.rawValue]
      if mark.object >= 0 { name += " \(trace.label(of: trace.objects[mark.object]))" }
      let isOfLane = mark.at.coroutine < 0
      event(
        "i",
        name,
        isOfLane ? Self.loops : Self.members,
        (isOfLane ? mark.at.lane : mark.at.coroutine) + 1,
        mark.at.time,
        &json
      ) { json in
        json.key("s")
        json.value("t")
      }
    }
  }

  /// How many coroutines run, are ready and wait; at so many moments that the file does not double.
  private func writeCounters(_ json: inout JSONWriter) {
    var changes: [(time: Int64, state: Int, by: Int)] = []
    for stretch in timeline.stretches {
      changes.append((stretch.start, stretch.state.rawValue, 1))
      changes.append((stretch.end, stretch.state.rawValue, -1))
    }
    changes.sort { ($0.time, $0.by) < ($1.time, $1.by) }
    let step = max(1, changes.count / Self.samples)
    var counts = [0, 0, 0]
    for (index, change) in changes.enumerated() {
      counts[change.state] += change.by
      let isLastOfMoment = index + 1 == changes.count || changes[index + 1].time != change.time
      guard isLastOfMoment, index % step == 0 || index + 1 == changes.count else { continue }
      let sample = counts
      event("C", "coroutines", Self.members, 0, change.time, &json) { json in
        json.key("args")
        json.object { json in
          json.key("running")
          json.value(sample[0])
          json.key("ready")
          json.value(sample[1])
          json.key("waiting")
          json.value(sample[2])
        }
      }
    }
  }
}

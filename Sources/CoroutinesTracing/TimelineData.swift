// SPDX-License-Identifier: Apache-2.0

/// Writes a timeline for the page: columns of numbers, and sorted times as differences, since that is short.
struct TimelineData {
  private let trace: Trace
  private let timeline: Timeline

  init(_ trace: Trace, _ timeline: Timeline) {
    self.trace = trace
    self.timeline = timeline
  }

  /// The text of the page's data.
  func json(title: String) -> String {
    var json = JSONWriter()
    json.object { json in
      json.key("title")
      json.value(title)
      json.key("duration")
      json.value(nanoseconds(trace.duration))
      json.key("events")
      json.value(trace.events.count)
      json.key("lost")
      json.value(trace.lostEvents)
      writeNames(&json)
      writeStretches(&json)
      writeArrows(&json)
    }
    return json.text
  }

  private func writeNames(_ json: inout JSONWriter) {
    json.key("lanes")
    json.array { json in
      for lane in trace.lanes {
        json.array {
          $0.value(lane.name)
          $0.value(lane.isThread)
        }
      }
    }
    var numbers: [UInt64: Int] = [:]
    for (index, id) in timeline.coroutines.enumerated() { numbers[id] = index }
    json.key("coroutines")
    json.array { json in
      for (id, ending) in zip(timeline.coroutines, timeline.endings) {
        let member = trace.coroutines[id]
        json.array {
          $0.value(Int(clamping: id))
          $0.value(trace.label(of: id))
          $0.value(member?.creationSite)
          $0.value(member?.parent.flatMap { numbers[$0] } ?? -1)
          $0.value(ending?.rawValue)
        }
      }
    }
    json.key("operations")
    json.array { json in for operation in timeline.operations { json.value(operation) } }
    json.key("objects")
    json.array { json in
      for object in trace.objects {
        json.array {
          $0.value(object.kind.rawValue)
          $0.value(trace.label(of: object))
          $0.value(object.creationSite)
        }
      }
    }
  }

  private func writeStretches(_ json: inout JSONWriter) {
    let stretches = timeline.stretches
    json.key("stretches")
    json.object { json in
      differences("start", stretches, \.start, &json)
      column("length", stretches, { Int($0.end - $0.start) }, &json)
      column("coroutine", stretches, \.coroutine, &json)
      column("state", stretches, \.state.rawValue, &json)
      column("lane", stretches, \.lane, &json)
      column("operation", stretches, \.operation, &json)
      column("object", stretches, \.object, &json)
      column("awaited", stretches, \.awaited, &json)
    }
    json.key("laneStretches")
    json.object { json in
      differences("start", timeline.laneStretches, \.start, &json)
      column("length", timeline.laneStretches, { Int($0.end - $0.start) }, &json)
      column("lane", timeline.laneStretches, \.lane, &json)
      column("coroutine", timeline.laneStretches, \.coroutine, &json)
    }
  }

  private func writeArrows(_ json: inout JSONWriter) {
    let arrows = timeline.arrows
    json.key("arrows")
    json.object { json in
      differences("start", arrows, \.from.time, &json)
      column("length", arrows, { Int($0.to.time - $0.from.time) }, &json)
      column("kind", arrows, \.kind.rawValue, &json)
      column("fromCoroutine", arrows, \.from.coroutine, &json)
      column("fromLane", arrows, \.from.lane, &json)
      column("toCoroutine", arrows, \.to.coroutine, &json)
      column("toLane", arrows, \.to.lane, &json)
      column("object", arrows, \.object, &json)
    }
    json.key("marks")
    json.object { json in
      differences("start", timeline.marks, \.at.time, &json)
      column("kind", timeline.marks, \.kind.rawValue, &json)
      column("coroutine", timeline.marks, \.at.coroutine, &json)
      column("lane", timeline.marks, \.at.lane, &json)
      column("object", timeline.marks, \.object, &json)
    }
  }

  private func column<Element>(
    _ name: StaticString,
    _ elements: [Element],
    _ number: (Element) -> Int,
    _ json: inout JSONWriter
  ) {
    json.key(name)
    json.array { json in for element in elements { json.value(number(element)) } }
  }

  private func differences<Element>(
    _ name: StaticString,
    _ elements: [Element],
    _ time: (Element) -> Int64,
    _ json: inout JSONWriter
  ) {
    var last: Int64 = 0
    json.key(name)
    json.array { json in
      for element in elements {
        json.value(time(element) - last)
        last = time(element)
      }
    }
  }
}

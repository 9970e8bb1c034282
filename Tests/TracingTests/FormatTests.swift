// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Foundation
import Testing

@testable import CoroutinesTracing

extension TracingTests {
  /// What is made of a recording.
  @Suite
  struct Formats {
    private struct File: Decodable {
      struct Event: Decodable {
        let ph: String
        let name: String
        let pid: Int
        let tid: Int
        let ts: Double?
        let dur: Double?
        let id: Int?
      }

      let traceEvents: [Event]
    }

    /// A few coroutines that talk, with names that try to break what is written.
    static func trace() throws -> Trace {
      let scheduler = TestScheduler()
      return try Tracing.record {
        try scheduler.run {
          let channel = Channel<Int>(capacity: 2, name: "</script>\"\\\n\u{2028}ü😀")
          launch(name: "<!-- & \u{1}") {
            for number in 0..<10 { try channel.send(number) }
            channel.close()
          }
          for _ in channel {}
        }
      }.trace
    }

    @Test
    func `Chrome's format is JSON whose flows pair up and whose slices do not overlap`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          let file = try JSONDecoder().decode(
            File.self,
            from: Data(try Formats.trace().chromeJSON.utf8)
          )
          let flows = Dictionary(grouping: file.traceEvents.filter { $0.id != nil }) { $0.id ?? 0 }
          #expect(flows.count >= 11)
          for flow in flows.values {
            #expect(flow.map(\.ph) == ["s", "f"])
            #expect(try #require(flow[0].ts) <= #require(flow[1].ts))
          }
          let slices = Dictionary(grouping: file.traceEvents.filter { $0.ph == "X" }) {
            [$0.pid, $0.tid]
          }
          #expect(slices.count == 3)
          for lane in slices.values {
            let spans = try lane.map { (try #require($0.ts), try #require($0.dur)) }
              .sorted { $0 < $1 }
            for (one, two) in zip(spans, spans.dropFirst()) {
              #expect(one.0 + one.1 <= two.0 + 0.0001)
            }
          }
          #expect(file.traceEvents.contains { $0.name.hasPrefix("<!-- & \u{1}") })
        }
      }
    }

    @Test
    func `No name can end the page's script`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          let page = try Formats.trace().html(title: "</title><script>")
          let data = try #require(
            page.firstRange(of: /<script type="application\/json" id="trace">/)
          )
          let rest = page[data.upperBound...]
          let end = try #require(rest.firstRange(of: "</script>"))
          let text = rest[..<end.lowerBound]
          #expect(!text.contains("<"))
          let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
          #expect(object?["title"] as? String == "</title><script>")
          let objects = object?["objects"] as? [[Any]]
          #expect(objects?.first?[1] as? String == "channel \"</script>\"\\\n\u{2028}ü😀\"")
          // It asks nobody for anything.
          #expect(!page.contains(/<[a-z]+ [^>]*src=/))
          #expect(page.contains("default-src 'none'"))
        }
      }
    }

    @Test
    func `Microseconds are exact`() {
      var json = JSONWriter()
      json.array { json in
        for number: Int64 in [0, 1, 1000, 1001, 123_456_789, -1500] { json.microseconds(number) }
      }
      #expect(json.text == "[0,0.001,1,1.001,123456.789,-1.500]")
    }

    @Test
    func `A coroutine that is woken while it still goes to sleep is ready at once`() {
      func event(_ time: Int64, _ coroutine: UInt64, _ kind: Trace.Kind) -> Trace.Event {
        Trace.Event(nanoseconds: time, lane: 0, coroutine: coroutine, kind: kind)
      }
      var builder = TimelineBuilder()
      for event in [
        event(0, 1, .launched(by: nil)), event(10, 1, .resumed), event(20, 1, .woken(by: 2)),
        event(25, 1, .parked(operation: "wait", on: nil)), event(40, 1, .resumed),
        event(50, 1, .ended(.value)),
      ] { builder.take(event) }
      let own = builder.timeline.stretches.filter { $0.coroutine == 0 }
      #expect(own.map(\.state) == [.ready, .running, .parked, .ready, .running])
      #expect(own.map(\.start) == [0, 10, 25, 25, 40])
      #expect(own.map(\.end) == [10, 25, 25, 40, 50])
      let arrow = builder.timeline.arrows.first
      #expect(arrow?.kind == .wake && arrow?.from.time == 20 && arrow?.to.time == 40)
    }

    @Test
    func `Who sleeps is ready from when its timer was due, however late that fires`() {
      func event(_ time: Int64, _ coroutine: UInt64?, _ kind: Trace.Kind) -> Trace.Event {
        Trace.Event(nanoseconds: time, lane: 0, coroutine: coroutine, kind: kind)
      }
      var builder = TimelineBuilder()
      let late = Trace.Kind.timerFired(late: .nanoseconds(300))
      for event in [
        event(0, 1, .parked(operation: "sleep", on: nil)),
        event(0, 2, .parked(operation: "receive", on: nil)),
        event(0, 3, .parked(operation: "sleep", on: nil)),
        event(10, 4, .resumed), event(1000, 4, .yielded),
        event(1000, nil, late), event(1000, 1, .woken(by: nil)),
        // Nobody's timer ended this wait.
        event(1001, 2, .woken(by: nil)),
        // The loop was behind, but not as long as this one waited.
        event(1002, nil, .timerFired(late: .nanoseconds(5000))), event(1002, 3, .woken(by: nil)),
        event(1100, 1, .resumed), event(1100, 2, .resumed), event(1100, 3, .resumed),
      ] { builder.take(event) }
      func ready(_ coroutine: UInt64) -> [Int64] {
        builder.timeline.stretches
          .filter { builder.timeline.coroutines[$0.coroutine] == coroutine && $0.state == .ready }
          .flatMap { [$0.start, $0.end] }
      }
      #expect(ready(1) == [700, 1100])
      #expect(ready(2) == [1001, 1100])
      #expect(ready(3) == [0, 1100])
    }

    @Test
    func `A value that is taken from a sender on its way to sleep has its arrow all the same`() {
      func event(_ time: Int64, _ coroutine: UInt64, _ kind: Trace.Kind) -> Trace.Event {
        Trace.Event(nanoseconds: time, lane: Int(coroutine), coroutine: coroutine, kind: kind)
      }
      var builder = TimelineBuilder()
      for event in [
        event(0, 1, .resumed), event(5, 2, .resumed),
        event(20, 2, .received(0, from: .coroutine(1))),
        event(25, 1, .parked(operation: "send", on: .object(0))),
      ] { builder.take(event) }
      let arrow = builder.timeline.arrows.first
      #expect(arrow?.from == .init(time: 20, coroutine: 0, lane: 1))
      #expect(arrow?.to == .init(time: 20, coroutine: 1, lane: 2))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
@testable import CoroutinesTracing
import Dispatch
import Synchronization
import Testing

extension TracingTests {
  /// Many threads in one recording.
  @Suite
  struct Threads {
    /// A pipeline across two loops and a pool.
    static func work(_ count: Int) throws -> Int {
      let numbers = Channel<Int>(capacity: 4, name: "numbers")
      let squares = Channel<Int>(name: "squares")
      let source = SerialScheduler(name: "source")
      let pool = PoolScheduler(threads: 2, name: "pool")
      launch(on: source, name: "source") {
        for number in 1...count { try numbers.send(number) }
        numbers.close()
      }
      let workers = (1...3).map { index in
        launch(on: pool, name: "worker \(index)") {
          for number in numbers { try squares.send(number * number) }
        }
      }
      return try runBlocking {
        launch(name: "closer") {
          for worker in workers { try worker.join() }
          squares.close()
        }
        var sum = 0
        for square in squares { sum += square }
        return sum
      }
    }

    @Test
    func `Each value that goes from loop to loop has one send and one receive, in this order`()
      async
    {
      await #expect(processExitsWith: .success) {
        try alone {
          let count = 500
          let (sum, trace) = try Tracing.record { try Threads.work(count) }
          #expect(sum == count * (count + 1) * (2 * count + 1) / 6)
          #expect(trace.lostEvents == 0)
          let names = Set(trace.lanes.map(\.name))
          #expect(names.contains("source") && names.contains { $0.hasPrefix("pool") })

          let arrows = TimelineBuilder.build(trace).arrows.filter { $0.kind == .message }
          for name in ["numbers", "squares"] {
            let channel = try #require(trace.objects.firstIndex { $0.name == name })
            let own = arrows.filter { $0.object == channel }
            #expect(own.count == count)
            #expect(own.allSatisfy { $0.from.time <= $0.to.time })
            #expect(own.allSatisfy { $0.from.coroutine >= 0 && $0.to.coroutine >= 0 })
          }
        }
      }
    }

    @Test
    func `A wake from another thread comes before the turn that it brings`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          let (_, trace) = try Tracing.record { try Threads.work(200) }
          var lastWake: [UInt64: Int64] = [:]
          var turns = 0
          for event in trace.events {
            guard let coroutine = event.coroutine else { continue }
            if case .woken = event.kind { lastWake[coroutine] = event.nanoseconds }
            if event.kind == .resumed, let wake = lastWake.removeValue(forKey: coroutine) {
              #expect(wake <= event.nanoseconds)
              turns += 1
            }
          }
          #expect(turns > 200)
        }
      }
    }

    @Test
    func `A recording can begin and end while others run`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          let isOver = Atomic(false)
          let worker = DispatchQueue(label: "work")
          let group = DispatchGroup()
          worker.async(group: group) {
            while !isOver.load(ordering: .acquiring) { _ = try? Threads.work(20) }
          }
          var events = 0
          for _ in 0..<20 {
            try Tracing.start(eventsPerThread: 256)
            // Something to see.
            _ = try Threads.work(20)
            let trace = try Tracing.stop()
            events += trace.events.count
            for event in trace.events {
              #expect(event.lane < trace.lanes.count)
            }
          }
          isOver.store(true, ordering: .releasing)
          group.wait()
          #expect(events > 20 * 20)
        }
      }
    }

    @Test
    func `Coroutines of dispatch queues are recorded like others`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          let queue = DispatchQueue(label: "recorded queue")
          let (sum, trace) = try Tracing.record {
            try runBlocking {
              let answer = Channel<Int>(name: "answer")
              launch(on: queue, name: "on queue") {
                try Coroutine.yield()
                try answer.send(42)
              }
              return try answer.receive()
            }
          }
          #expect(sum == 42)
          let member = try #require(trace.coroutines.values.first { $0.name == "on queue" })
          let own = trace.events.filter { $0.coroutine == member.id }
          let lane = try #require(own.first { $0.kind == .resumed }?.lane)
          #expect(trace.lanes[lane].name == "recorded queue")
          #expect(own.contains { $0.kind == .yielded })
        }
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Coroutines
import CoroutinesTesting
import CoroutinesTracing
import Dispatch
import Synchronization
import Testing

extension TracingTests {
  /// What a recording does to the program, and the program to it.
  @Suite
  struct Recordings {
    @Test
    func `A full ring loses its oldest events, and says how many`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          let scheduler = TestScheduler()
          let (_, trace) = try Tracing.record(eventsPerThread: 10) {
            try scheduler.run { for _ in 0..<100 { try Coroutine.yield() } }
          }
          // Rounded up to a power of two.
          #expect(trace.events.count == 16)
          // A launch, and then resumed and yielded a hundred times, and resumed and ended.
          #expect(trace.lostEvents == 1 + 2 * 100 + 2 - 16)
          #expect(trace.events.last?.kind == .ended(.value))
          let times = trace.events.map(\.nanoseconds)
          #expect(times == times.sorted())
          #expect(times.allSatisfy { $0 >= 0 && .nanoseconds($0) <= trace.duration })
        }
      }
    }

    @Test
    func `Rings without room are refused (rule 12)`() async {
      await #expect(processExitsWith: .failure) { try Tracing.start(eventsPerThread: 0) }
      await #expect(processExitsWith: .failure) { try Tracing.start(eventsPerThread: 1 << 25) }
    }

    @Test
    func `There is one recording in a process (rule 12)`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          #expect(throws: TracingError.notOn) { try Tracing.stop() }
          try Tracing.start()
          #expect(Tracing.isOn)
          #expect(throws: TracingError.alreadyOn) { try Tracing.start() }
          _ = try Tracing.stop()
          #expect(!Tracing.isOn)
          #expect(throws: TracingError.notOn) { try Tracing.stop() }
        }
      }
    }

    @Test
    func `A body that throws ends the recording`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          struct Broken: Error {}
          #expect(throws: Broken.self) { try Tracing.record { throw Broken() } }
          #expect(!Tracing.isOn)
        }
      }
    }

    @Test
    func
      `A loop that runs takes part from the next turn on, and is as fast as before after the end`()
      async
    {
      // In a process of its own: a census that another test takes tells every loop to report, too.
      await #expect(processExitsWith: .success) {
        try alone {
          let trace = try runBlocking {
            let channel = Channel<Int>(capacity: 1, name: "numbers")
            let counter = launch(name: "counter") { for _ in channel {} }
            for number in 0..<10 { try channel.send(number) }
            let home = try #require(currentThread().currentHome)
            var isPlain = home.pointee.isPlain
            #expect(isPlain)
            try Tracing.start()
            isPlain = home.pointee.isPlain
            var limit = home.pointee.handOverLimit
            #expect(!isPlain && limit == 0)
            for number in 0..<10 { try channel.send(number) }
            let trace = try Tracing.stop()
            for number in 0..<10 { try channel.send(number) }
            channel.close()
            try counter.join()
            isPlain = home.pointee.isPlain
            limit = home.pointee.handOverLimit
            let isTraced = home.pointee.isTraced
            #expect(isPlain && limit > 0 && !isTraced)
            let thread = currentThread()
            let isDirect = thread.pointee.direct_home == thread.pointee.home
            #expect(isDirect)
            return trace
          }
          let lines = Events.lines(of: trace)
          #expect(trace.coroutines.values.contains { $0.name == "counter" && $0.parent == nil })
          #expect(
            lines.count { $0.hasPrefix("?: sent on numbers") || $0.contains("sent on numbers") }
              == 10
          )
          #expect(lines.contains { $0.hasPrefix("counter: received on numbers") })
        }
      }
    }

    @Test
    func `A coroutine that was recorded looks once more at its hint, and then no longer`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          try runBlocking {
            let channel = Channel<Int>(capacity: 1)
            try Tracing.start()
            try Coroutine.yield()
            let fiber = try #require(currentThread().runningFiber)
            var looksTwice = fiber.pointee.attention.load(ordering: .relaxed)
            #expect(looksTwice)
            _ = try Tracing.stop()
            try channel.send(1)
            looksTwice = fiber.pointee.attention.load(ordering: .relaxed)
            #expect(!looksTwice)
            // A cancellation counts as ever.
            Coroutine.current?.cancel()
            #expect(throws: CancellationError.self) { try channel.send(2) }
          }
        }
      }
    }

    @Test
    func `Cancelling works as ever while it is recorded (rule 2)`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          let lines = try Events.lines {
            let channel = Channel<Int>(name: "numbers")
            let receiver = launch(name: "receiver") { try channel.receive() }
            try Coroutine.yield()
            receiver.cancel()
            #expect(throws: CancellationError.self) { try receiver.value() }
            try withTimeout(.seconds(1)) { try Coroutine.sleep(for: .milliseconds(1)) }
            Coroutine.current?.cancel()
            #expect(throws: CancellationError.self) { try channel.send(1) }
          }
          #expect(lines.contains("receiver: cancelled by main"))
          #expect(lines.contains("receiver: woken by main"))
          #expect(lines.contains("receiver: ended with cancelled"))
          #expect(!lines.contains { $0.contains("sent on") })
        }
      }
    }

    @Test
    func `A census counts the same while events are recorded`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          try runBlocking {
            let channel = Channel<Int>()
            try Tracing.start()
            #expect(throws: LeakError.self) {
              try withLeakCheck { launch(name: "leak") { try channel.receive() } }
            }
            _ = try Tracing.stop()
            channel.close()
          }
        }
      }
    }

    @Test
    func `Work that is offloaded is seen on its own thread`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          let (_, trace) = try Tracing.record {
            try runBlocking {
              // The work ends when its caller has parked, and another coroutine runs.
              let isParked = DispatchSemaphore(value: 0)
              launch { isParked.signal() }
              try offload { isParked.wait() }
            }
          }
          let began = try #require(trace.events.first { $0.kind == .offloadBegan })
          #expect(trace.lanes[began.lane].isThread)
          let ended = try #require(trace.events.first { $0.kind == .offloadEnded })
          #expect(ended.coroutine == began.coroutine)
          #expect(began.coroutine.flatMap { trace.coroutines[$0]?.parent } == nil)
          #expect(trace.events.contains { $0.kind == .parked(operation: "offload(_:)", on: nil) })
        }
      }
    }
  }
}

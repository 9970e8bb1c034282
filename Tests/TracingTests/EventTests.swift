// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import CoroutinesTracing
import Testing

/// All suites of this module.
///
/// There is one recording in a process, and it records whatever runs there: so each test has a process of its own.
@Suite(.timeLimit(.minutes(30)))
struct TracingTests {}

/// Runs a test's body as synchronous code.
func alone(_ body: () throws -> Void) throws { try body() }

extension TracingTests {
  /// What a small program on a test scheduler leaves behind.
  @Suite
  struct Events {
    /// Events of a run, each as one line, with coroutines and objects by name.
    static func lines(_ body: @escaping () throws -> Void) throws -> [String] {
      let scheduler = TestScheduler()
      let (_, trace) = try Tracing.record { try scheduler.run(body) }
      return lines(of: trace)
    }

    static func lines(of trace: Trace) -> [String] {
      func name(_ id: UInt64?) -> String {
        guard let id else { return "nobody" }
        return trace.coroutines[id]?.name ?? "?"
      }
      func object(_ index: Int) -> String { trace.objects[index].name ?? "?" }
      func place(_ place: Trace.Place) -> String {
        switch place {
        case .coroutine(let id): name(id)
        case .slot(let slot): "slot \(slot)"
        }
      }
      return trace.events.map { event in
        let who = name(event.coroutine)
        switch event.kind {
        case .launched(let parent): return "\(who): launched by \(name(parent))"
        case .resumed: return "\(who): resumed"
        case .parked(let operation, .object(let index)):
          return "\(who): parked in \(operation) on \(object(index))"
        case .parked(let operation, .coroutine(let id)):
          return "\(who): parked in \(operation) of \(name(id))"
        case .parked(let operation, nil): return "\(who): parked in \(operation)"
        case .yielded: return "\(who): yielded"
        case .woken(let waker): return "\(who): woken by \(name(waker))"
        case .cancelled(let by): return "\(who): cancelled by \(name(by))"
        case .ended(let ending): return "\(who): ended with \(ending.rawValue)"
        case .sent(let channel, let to): return "\(who): sent on \(object(channel)) to \(place(to))"
        case .received(let channel, let from):
          return "\(who): received on \(object(channel)) from \(place(from))"
        case .dropped(let channel): return "\(who): dropped by \(object(channel))"
        case .closed(let channel): return "\(who): closed \(object(channel))"
        case .grown(let channel, let head, let slots):
          return "\(object(channel)) grown from \(slots), \(head)"
        case .offloadBegan: return "\(who): work began"
        case .offloadEnded: return "\(who): work ended"
        case .timerFired: return "timer"
        case .fellAsleep: return "asleep"
        case .wokeUp: return "awake"
        }
      }
    }

    @Test
    func `A rendezvous is a park, a send to the one who waits, a wake and a turn`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          let lines = try Events.lines {
            let channel = Channel<Int>(name: "numbers")
            let receiver = launch(name: "receiver") { try channel.receive() }
            try Coroutine.yield()
            try channel.send(1)
            _ = try receiver.value()
          }
          #expect(
            lines == [
              "main: launched by nobody",
              "main: resumed",
              "receiver: launched by main",
              "main: yielded",
              "receiver: resumed",
              "receiver: parked in Channel.receive() on numbers",
              "main: resumed",
              "main: sent on numbers to receiver",
              "receiver: woken by main",
              "main: parked in Coroutine.value() of receiver",
              "receiver: resumed",
              "main: woken by receiver",
              "receiver: ended with value",
              "main: resumed",
              "main: ended with value",
            ]
          )
        }
      }
    }

    @Test
    func `A value that is kept goes through a slot, and a sender that waits moves up into it`()
      async
    {
      await #expect(processExitsWith: .success) {
        try alone {
          let lines = try Events.lines {
            let channel = Channel<Int>(capacity: 1, name: "numbers")
            let sender = launch(name: "sender") {
              for number in 0..<2 { try channel.send(number) }
              channel.close()
            }
            try Coroutine.yield()
            _ = try channel.receive()
            _ = try channel.receive()
            try sender.join()
          }
          #expect(
            lines.filter { $0.contains("numbers") } == [
              "sender: sent on numbers to slot 0",
              "sender: parked in Channel.send(_:) on numbers",
              "main: received on numbers from slot 0",
              "sender: sent on numbers to slot 0",
              "main: received on numbers from slot 0",
              "sender: closed numbers",
            ]
          )
        }
      }
    }

    @Test
    func `Timers, cancellations and errors are told`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          struct Broken: Error {}
          let lines = try Events.lines {
            let sleeper = launch(name: "sleeper") { try Coroutine.sleep(for: .seconds(3600)) }
            let broken = launch(name: "broken") { throw Broken() }
            try Coroutine.sleep(for: .seconds(1))
            sleeper.cancel()
            try? sleeper.join()
            #expect(throws: Broken.self) { try broken.value() }
          }
          #expect(lines.contains("broken: ended with error"))
          #expect(lines.contains("sleeper: parked in Coroutine.sleep(for:)"))
          let last = lines.drop { $0 != "main: parked in Coroutine.sleep(for:)" }
          #expect(
            last.prefix(9) == [
              "main: parked in Coroutine.sleep(for:)",
              "sleeper: resumed",
              "sleeper: parked in Coroutine.sleep(for:)",
              "broken: resumed",
              "broken: ended with error",
              "timer",
              "main: woken by nobody",
              "main: resumed",
              "sleeper: cancelled by main",
            ]
          )
          #expect(lines.contains("sleeper: ended with cancelled"))
        }
      }
    }

    @Test
    func `A clause of a select that is ready sends and receives like a call`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          let lines = try Events.lines {
            let full = Channel<Int>(capacity: 1, name: "full")
            let empty = Channel<Int>(capacity: 1, name: "empty")
            try full.send(1)
            try select {
              Receive(from: full) { _ in }
              Receive(from: empty) { _ in }
            }
          }
          #expect(
            lines.filter { $0.contains("full") } == [
              "main: sent on full to slot 0", "main: received on full from slot 0",
            ]
          )
        }
      }
    }

    @Test
    func `Values that move to a bigger ring are followed`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          let lines = try Events.lines {
            let channel = Channel<Int>(capacity: .unbounded, name: "numbers")
            for number in 0..<17 { try channel.send(number) }
            for _ in 0..<17 { _ = try channel.receive() }
          }
          #expect(lines.contains("numbers grown from 16, 0"))
          #expect(lines.contains("main: received on numbers from slot 16"))
        }
      }
    }

    @Test
    func `Nothing is recorded outside a recording, and what came before is not told`() async {
      await #expect(processExitsWith: .success) {
        try alone {
          let scheduler = TestScheduler()
          try scheduler.run { try launch(name: "early") {}.join() }
          let (_, trace) = try Tracing.record {}
          #expect(trace.events.isEmpty)
          #expect(trace.coroutines.isEmpty)
        }
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Dispatch
import Synchronization

/// The flavours that crossbeam's suite has a file for: `zero`, `array` and `list`.
enum CrossbeamKind: String, CaseIterable, Sendable {
  case rendezvous
  case bounded
  case unbounded

  /// Those that keep values.
  static let keeping: [CrossbeamKind] = [.bounded, .unbounded]

  /// Those that crossbeam's `mpsc` test goes over: `sync_channel(0)` and `channel`.
  static let mpsc: [CrossbeamKind] = [.rendezvous, .unbounded]

  /// A channel of this kind; `room` is what it keeps if it is bounded.
  func channel(room: Int = 100) -> Channel<Int> { channel(of: Int.self, room: room) }

  /// A channel of this kind.
  func channel<Element>(of: Element.Type, room: Int = 100) -> Channel<Element> {
    switch self {
    case .rendezvous: Channel(capacity: .rendezvous)
    case .bounded: Channel(capacity: .bounded(room))
    case .unbounded: Channel(capacity: .unbounded)
    }
  }
}

/// What became of an operation that may take so long and no longer.
enum CrossbeamOutcome: Equatable, Sendable {
  case received(Int)
  case sent
  /// A send has its value back.
  case closed(Int?)
  /// A send has its value back.
  case timedOut(Int?)
}

/// The two ways to limit a wait.
enum CrossbeamLimit: CaseIterable, Sendable {
  /// `withTimeout`, around any code.
  case timeout
  /// `After`, a clause of a `select`.
  case clause

  func receive(from channel: Channel<Int>, within limit: Duration) throws -> CrossbeamOutcome {
    switch self {
    case .timeout:
      do {
        return .received(try withTimeout(limit) { try channel.receive() })
      } catch is TimeoutError {
        return .timedOut(nil)
      } catch ChannelError.closed {
        return .closed(nil)
      }
    case .clause:
      return try select {
        Receive(from: channel, whenClosed: { CrossbeamOutcome.closed(nil) }) {
          CrossbeamOutcome.received($0)
        }
        After(limit) { CrossbeamOutcome.timedOut(nil) }
      }
    }
  }

  func send(
    _ value: Int,
    to channel: Channel<Int>,
    within limit: Duration
  ) throws -> CrossbeamOutcome {
    switch self {
    case .timeout:
      var back: Int?
      do {
        try withTimeout(limit) { try channel.send(value, onUndelivered: { back = $0 }) }
        return .sent
      } catch is TimeoutError {
        return .timedOut(back)
      } catch ChannelError.closed {
        return .closed(back)
      }
    case .clause:
      do {
        return try select {
          Send(value, to: channel) { CrossbeamOutcome.sent }
          // The value was copied into the clause: whoever selects still has it.
          After(limit) { CrossbeamOutcome.timedOut(value) }
        }
      } catch ChannelError.closed {
        return .closed(value)
      }
    }
  }
}

/// A program in virtual time, with crossbeam's `after` and `tick` as channels.
final class CrossbeamTimeline {
  private let scheduler: TestScheduler
  private var timers: [Coroutine] = []

  private init(_ order: TestScheduler.Order) { scheduler = TestScheduler(order: order) }

  /// Runs a program in virtual time, in which a hang is a `Deadlock`; its timers end with it.
  static func run<Result>(
    order: TestScheduler.Order = .firstCome,
    _ body: @escaping (CrossbeamTimeline) throws -> Result
  ) throws -> Result {
    let timeline = CrossbeamTimeline(order)
    return try timeline.scheduler.run {
      defer { for timer in timeline.timers { timer.cancel() } }
      return try body(timeline)
    }
  }

  /// Time since the beginning.
  var now: Duration { scheduler.elapsed }

  /// Lets time pass.
  func pass(_ duration: Duration) throws { try Coroutine.sleep(for: duration) }

  /// A channel that gets the time once, when so much has passed.
  func alarm(after delay: Duration) -> Channel<Duration> {
    let channel = Channel<Duration>(capacity: 1)
    if delay <= .zero {
      channel.sendIfReady(now)
    } else {
      timers.append(
        launch { [scheduler] in
          try Coroutine.sleep(for: delay)
          channel.sendIfReady(scheduler.elapsed)
        }
      )
    }
    return channel
  }

  /// A channel that gets the time again and again, and keeps one until it is received.
  func ticks(every period: Duration) -> Channel<Duration> {
    let channel = Channel<Duration>(capacity: .droppingNewest(1))
    timers.append(
      launch { [scheduler] in
        var next = CoroutineClock().now
        while true {
          next = next.advanced(by: period)
          try Coroutine.sleep(until: next)
          channel.sendIfReady(scheduler.elapsed)
        }
      }
    )
    return channel
  }
}

/// Something was not as a scenario wants it, where an expectation must throw.
struct CrossbeamFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Throws if the condition does not hold.
  static func unless(_ condition: Bool, _ description: String) throws {
    if !condition { throw CrossbeamFailure(description) }
  }
}

/// Counts the objects that it made and that have been released.
final class CrossbeamCensus: Sendable {
  private let count = Atomic<Int>(0)

  var released: Int { count.load(ordering: .sequentiallyConsistent) }

  func make(_ number: Int = 0) -> Object { Object(self, number) }

  final class Object: Sendable {
    private let census: CrossbeamCensus
    let number: Int

    fileprivate init(_ census: CrossbeamCensus, _ number: Int) {
      self.census = census
      self.number = number
    }

    deinit { census.count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
  }
}

/// Where the coroutines of a stress program run: not on the test's own loop.
enum CrossbeamPlace: CaseIterable, Sendable {
  case threads
  case queues

  /// Three schedulers, to be used in turn.
  func schedulers() -> [Scheduler] {
    (0..<3).map {
      switch self {
      case .threads: SerialScheduler(name: "crossbeam \($0)")
      case .queues: .queue(DispatchQueue(label: "crossbeam \($0)"))
      }
    }
  }
}

/// Starts coroutines on several schedulers in turn.
struct CrossbeamSpreader {
  private let schedulers: [Scheduler]
  private var count = 0

  init(_ place: CrossbeamPlace) { schedulers = place.schedulers() }

  /// Starts the next coroutine.
  mutating func go<Value>(_ body: sending @escaping () throws -> Value) -> ValueCoroutine<Value> {
    count += 1
    return launch(on: schedulers[count % schedulers.count], body)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Dispatch

/// A program in Go's manner: its main part ends it, whatever the coroutines that it started do then.
///
/// A scope of ours would wait for them, so this one cancels them.
final class GoProgram {
  private var started: [Coroutine] = []

  /// Starts a coroutine that ends with the program at the latest.
  @discardableResult
  func go<Value>(
    _ name: String? = nil,
    _ body: @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    let coroutine = launch(name: name, body)
    started.append(coroutine)
    return coroutine
  }

  /// Ends what still runs.
  func stop() {
    for coroutine in started { coroutine.cancel() }
    started = []
  }

  /// Runs a program on one event loop.
  static func run<Result>(_ main: (GoProgram) throws -> Result) throws -> Result {
    try runBlocking {
      let program = GoProgram()
      defer { program.stop() }
      return try main(program)
    }
  }

  /// Runs a program in any order of its coroutines, the same for the same seed; a hang is a `Deadlock`.
  static func run<Result>(
    seed: UInt64,
    _ main: @escaping (GoProgram) throws -> Result
  ) throws -> Result {
    try TestScheduler(order: .random(seed: seed)).run {
      let program = GoProgram()
      defer { program.stop() }
      return try main(program)
    }
  }

  /// Runs a program in many orders, with all orders near to first come, first served among them.
  static func exploreAll(
    delays: Int? = 2,
    runs: Int = 400,
    _ main: @escaping (GoProgram) throws -> Void
  ) throws {
    try explore(.exhaustive(delays: delays), runs: runs) {
      let program = GoProgram()
      defer { program.stop() }
      try main(program)
    }
  }
}

/// Something was not as a program wants it, where an expectation must throw.
struct GoPanic: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Throws if the condition does not hold.
  static func unless(_ condition: Bool, _ description: String) throws {
    if !condition { throw GoPanic(description) }
  }
}

/// What stands for Go's nil channel in a `select`: a channel that nobody else has.
///
/// Neither end of it is ever ready. A clause is switched off by giving it one of its own.
func nobodysChannel<Element>(of type: Element.Type = Int.self) -> Channel<Element> {
  Channel<Element>()
}

/// Lets what is ready on this scheduler, and what that makes ready, run.
func letGoroutinesRun() throws {
  for _ in 0..<4 { try Coroutine.yield() }
}

/// Random numbers that are the same in every run: splitmix64 (Steele, Lea, Flood 2014).
struct GoProgramRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

/// Where the coroutines of a stress program run.
enum GoPlace: String, CaseIterable, Sendable {
  /// All on the loop of the test.
  case oneLoop
  /// On three threads of their own.
  case threads
  /// On three dispatch queues.
  case queues
  /// On two threads and two queues.
  case mixed

  /// The schedulers, to be used in turn; the loop itself if there are none.
  func schedulers() -> [Scheduler] {
    switch self {
    case .oneLoop: []
    case .threads: (0..<3).map { SerialScheduler(name: "go \($0)") }
    case .queues: (0..<3).map { .queue(DispatchQueue(label: "go \($0)")) }
    case .mixed:
      [
        SerialScheduler(name: "go 0"), .queue(DispatchQueue(label: "go 1")),
        SerialScheduler(name: "go 2"), .queue(DispatchQueue(label: "go 3")),
      ]
    }
  }
}

/// Starts coroutines on several schedulers in turn.
struct GoSpreader {
  private let schedulers: [Scheduler]
  private var count = 0

  init(_ place: GoPlace) { schedulers = place.schedulers() }

  /// Starts the next coroutine.
  mutating func go<Value>(_ body: sending @escaping () throws -> Value) -> ValueCoroutine<Value> {
    count += 1
    return schedulers.isEmpty
      ? launch(body) : launch(on: schedulers[count % schedulers.count], body)
  }
}

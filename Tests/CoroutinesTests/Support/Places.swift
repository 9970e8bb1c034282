// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import Dispatch
import Foundation

/// Runs `body` on a thread of its own, outside any coroutine and any task.
@discardableResult
func onThread<Result>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
  nonisolated(unsafe) let result = try await withCheckedThrowingContinuation { continuation in
    startKernelThread(named: "test") {
      // SAFETY: the result is handed over whole.
      nonisolated(unsafe) let result = Swift.Result { try body() }
      continuation.resume(with: result)
    }
  }
  return result
}

/// Lets everything that is ready on this scheduler, and what that makes ready, run.
func letOthersRun() throws {
  for _ in 0..<4 { try Coroutine.yield() }
}

/// Where the coroutines of a test run, beside the thread that runs the test.
enum Elsewhere: CaseIterable, Sendable {
  case eventLoops
  case queues
  case both

  /// So many schedulers with a thread each, or served by dispatch.
  func schedulers(_ count: Int) -> [Scheduler] {
    (0..<count).map { index in
      switch self {
      case .eventLoops: SerialScheduler(name: "loop \(index)")
      case .queues: .queue(DispatchQueue(label: "queue \(index)"))
      case .both:
        index % 2 == 0
          ? SerialScheduler(name: "loop \(index)") : .queue(DispatchQueue(label: "queue \(index)"))
      }
    }
  }
}

/// Random numbers that are the same in every run: splitmix64 (Steele, Lea, Flood 2014).
struct SeededRandom: RandomNumberGenerator {
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

/// An error to throw.
struct Failure: Error, Equatable {
  let code: Int

  init(_ code: Int = 0) { self.code = code }
}

/// Lets another thread run.
func spinWait() { sched_yield() }

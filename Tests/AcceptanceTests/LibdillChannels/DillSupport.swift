// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting

/// A program in libdill's manner: virtual time, coroutines that are closed by whoever started them.
final class DillProgram {
  private let scheduler: TestScheduler

  private init(_ order: TestScheduler.Order) { scheduler = TestScheduler(order: order) }

  /// Runs a program; a hang is a `Deadlock`.
  static func run<Result>(
    order: TestScheduler.Order = .firstCome,
    _ body: @escaping (DillProgram) throws -> Result
  ) throws -> Result {
    let program = DillProgram(order)
    return try program.scheduler.run { try body(program) }
  }

  /// Milliseconds since the beginning.
  var now: Int { Int(scheduler.elapsed / .milliseconds(1)) }

  /// Sleeps for so many milliseconds.
  func msleep(_ milliseconds: Int) throws { try Coroutine.sleep(for: .milliseconds(milliseconds)) }
}

/// Something was not as a program wants it, where an expectation must throw.
struct DillFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Throws if the condition does not hold.
  static func unless(_ condition: Bool, _ description: String) throws {
    if !condition { throw DillFailure(description) }
  }
}

/// The two ends of libdill's channel carry values in either direction: here, two channels.
struct DillPipe {
  let there = Channel<Int>()
  let back = Channel<Int>()
}

/// What a call of libdill ends with.
enum DillEnding: Equatable {
  case fine
  /// `EPIPE`.
  case closed
  /// `ECANCELED`.
  case cancelled
  /// `ETIMEDOUT`.
  case timedOut

  /// How a call ends.
  init(of call: () throws -> Void) throws {
    do {
      try call()
      self = .fine
    } catch ChannelError.closed {
      self = .closed
    } catch is CancellationError {
      self = .cancelled
    } catch is TimeoutError {
      self = .timedOut
    }
  }
}

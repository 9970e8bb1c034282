// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import CoroutineTestSupport
import Coroutines
import Dispatch

/// An error of the tests' own.
struct Problem: Error, Equatable {
  let number: Int

  init(_ number: Int) {
    self.number = number
  }
}

/// Runs `body` on a thread that belongs to no scheduler, and waits for it.
func onPlainThread<Result: Sendable>(
  _ body: @escaping @Sendable () -> Result
) -> Result {
  let result = Cell<Result>()
  let done = DispatchSemaphore(value: 0)
  startKernelThread(named: "plain") {
    result.value = body()
    done.signal()
  }
  done.wait()
  guard let value = result.value else { fatalError("the thread left nothing") }
  return value
}

/// How a piece of work ended.
enum Ending: Equatable {
  case returned
  case cancelled
  case timedOut
  case failed(String)

  init(of work: () throws -> Void) {
    do {
      try work()
      self = .returned
    } catch is CancellationError {
      self = .cancelled
    } catch is TimeoutError {
      self = .timedOut
    } catch {
      self = .failed("\(error)")
    }
  }
}

/// A wait that only cancellation ends.
func waitForEver() throws {
  try Gate().wait()
}

/// `runBlocking` for the bodies of exit tests, which count as `async` and have a thread to block.
func blocking<Result>(
  stackSize: StackSize = .default,
  _ body: () throws -> Result
) throws -> Result {
  try runBlocking(stackSize: stackSize, body)
}

/// Starts a thread that belongs to no scheduler.
func startThread(_ body: @escaping @Sendable () -> Void) {
  startKernelThread(named: "plain", body)
}

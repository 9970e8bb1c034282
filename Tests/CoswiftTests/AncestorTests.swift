// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing
import coswift

/// Bugs of coobjc and coswift that no other file here shows to be gone; `Ancestors.md` lists all.
@Suite(.timeLimit(.minutes(30)))
struct AncestorTests {
  @Test func `a coroutine that goes on after a wait runs, and resuming it has no effect (3.4-1)`()
    throws
  {
    let runs = Cell(0)
    try inCoroutine { () throws in
      let coroutine = Coroutine.current()
      #expect(coroutine != nil)
      runs.update { $0 += 1 }
      try co_delay(0.001)
      #expect(co_isActive)
      coroutine?.resume()
      coroutine?.resumeNow()
      try co_delay(0.001)
      #expect(Coroutine.current() === coroutine)
      #expect(coroutine?.isFinished == false)
    }
    #expect(runs.value == 1)
  }

  @Test func `a parent that has ended is released though a child of it goes on (3.3-1)`() throws {
    try inCoroutine { () throws in
      let log = Log()
      let gate = Promise<Int>()
      let child = Cell<Coroutine?>(nil)
      weak var parent: Coroutine?
      do {
        let made = co_launch_now { [probe = Probe { log("parent's body released") }] in
          child.value = co_launch_now { _ = try co_await(promise: gate) }
          withExtendedLifetime(probe) {}
        }
        made.join()
        parent = made
      }
      // What ran it has let go of it when it has run others.
      try co_delay(0)
      #expect(parent == nil)
      #expect(log.entries == ["parent's body released"])
      #expect(child.value?.isFinished == false)
      gate.fulfill(value: 1)
      child.value?.join()
      #expect(child.value?.lastError == nil)
    }
  }

  #if os(Linux)
  @Test func `a delay outside a coroutine starts no timer (3.3-10)`() throws {
    // In a process of its own, without the timers of the tests.
    let products = try #require(Bundle.main.executableURL).deletingLastPathComponent()
    let process = Process()
    let output = Pipe()
    process.executableURL = products.appending(path: "coswift-probe")
    process.arguments = ["delayOutside"]
    process.standardOutput = output
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(String(decoding: said, as: UTF8.self))")
  }
  #endif

  @Test func `a body that overflows its stack stops with a message (3.3-17)`() async throws {
    let result = try await #require(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      co_launch(queue: DispatchQueue(label: "test"), stackSize: 64 << 10) {
        AncestorTests.recurse(0)
      }
      DispatchSemaphore(value: 0).wait()
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("stack overflow in coroutine #"))
    #expect(text.contains("all 64 KiB of its stack"))
  }

  /// Uses up any stack.
  @inline(never)
  @discardableResult
  static func recurse(_ depth: Int) -> Int {
    withUnsafeTemporaryAllocation(byteCount: 128, alignment: 16) { buffer in
      buffer[0] = UInt8(truncatingIfNeeded: depth)
      return recurse(depth + 1) + Int(buffer[0])
    }
  }

  @Test func `a batch on a concurrent queue gives all its values, in order (3.4-10)`() throws {
    try inCoroutine(on: DispatchQueue(label: "concurrent", attributes: .concurrent)) {
      for round in 0..<20 {
        let promises = (0..<50).map { number in
          Promise<Int>(on: number % 2 == 0 ? .global() : nil) { fulfill, reject in
            try co_delay(Double((number * 7 + round) % 5) / 10_000)
            if number % 10 == 9 { reject(Problem(number)) } else { fulfill(number) }
          }
        }
        let outcomes = try batch_await(promises)
        #expect(outcomes.count == 50)
        for (number, outcome) in outcomes.enumerated() {
          switch outcome {
          case .fulfilled(let value): #expect(value == number && number % 10 != 9)
          case .rejected(let error): #expect(error as? Problem == Problem(number))
          }
        }
      }
    }
  }
}

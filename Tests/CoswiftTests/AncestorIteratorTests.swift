// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Dispatch
import Foundation
import Testing
import coswift

/// Bugs of RJIterator that no other file here shows to be gone; `Ancestors.md` lists all.
@Suite(.timeLimit(.minutes(30)))
struct AncestorIteratorTests {
  @Test func `block and argument are released at the end, though the iterator is kept (3.5-r2)`() {
    let log = Log()
    let iterator = RJIterator(
      block: { [probe = Probe { log("block") }] argument in
        try rj_yield(1)
        withExtendedLifetime((probe, argument)) {}
        return "end"
      },
      arg: Probe { log("argument") }
    )
    iterator.next()
    #expect(log.entries.isEmpty)
    iterator.next()
    #expect(Set(log.entries) == ["block", "argument"])
    #expect(iterator.next().value as? String == "end")

    let failing = RJIterator(
      block: { [probe = Probe { log("failing block") }] argument in
        try withExtendedLifetime((probe, argument)) { throw Problem(1) }
      },
      arg: Probe { log("failing argument") }
    )
    #expect(failing.next().error as? Problem == Problem(1))
    #expect(Set(log.entries.dropFirst(2)) == ["failing block", "failing argument"])
    withExtendedLifetime((iterator, failing)) {}
  }

  #if os(Linux)
  /// Bytes of the process that are in memory.
  private static func residentBytes() -> Int {
    let numbers = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return Int(numbers.split(separator: " ").dropFirst().first ?? "").map { $0 * 4096 } ?? 0
  }

  /// Not under sanitizers, which keep memory of their own for each stack.
  @Test(.enabled(if: cck_is_instrumented() == 0))
  func `an iterator takes what its body uses of the stack, not all of it (3.5-r3)`() async {
    await #expect(processExitsWith: .success) {
      func make() -> RJIterator {
        RJIterator(standardBlock: { for number in 0... { try rj_yield(number) } })
      }
      // What the first ones need once for all.
      let first = (0..<100).map { _ in make() }
      for iterator in first { iterator.next() }
      let before = AncestorIteratorTests.residentBytes()
      let iterators = (0..<2000).map { _ in make() }
      for iterator in iterators { #expect(iterator.next().value as? Int == 0) }
      let each = (AncestorIteratorTests.residentBytes() - before) / iterators.count
      #expect(before > 0)
      // A stack is 256 KiB.
      #expect(each < 64 << 10, "\(each) bytes each")
      withExtendedLifetime((first, iterators)) {}
    }
  }
  #endif

  @Test func `a body that overflows its stack stops with a message (3.5-r4)`() async throws {
    let result = try await #require(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      RJIterator(standardBlock: { try rj_yield(AncestorTests.recurse(0)) }).next()
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("stack overflow in a generator"))
  }

  // The main thread of the tests is not ours to serve the main queue with, so what uses rj_async runs in
  // processes of its own.

  @Test func `a block that awaits what never comes is released (3.5-r9)`() async {
    await #expect(processExitsWith: .success) {
      let log = Log()
      let released = DispatchSemaphore(value: 0)
      await onOwnThread {
        rj_async { [probe = Probe { released.signal() }] in
          // Dropped on another thread, a little later.
          let task: RJAsyncClosure = { callback in
            DispatchQueue.global().async { withExtendedLifetime(callback) {} }
          }
          if try rj_await(task).error as? RJError == .neverCalledBack { log("told") }
          withExtendedLifetime(probe) {}
        }
        #expect(released.wait(timeout: .now() + 300) == .success)
      }
      #expect(log.entries == ["told"])
    }
  }

  @Test func `rj_async works from any thread, and finally however late it comes (3.5-r11)`() async {
    await #expect(processExitsWith: .success) {
      let log = Log()
      await onOwnThread {
        let ended = DispatchSemaphore(value: 0)
        let epilog = rj_async {
          dispatchPrecondition(condition: .onQueue(.main))
          log("\(try rj_await(1).value ?? "nothing")")
        }
        epilog.finally { log("finally") }
        epilog.finally { ended.signal() }
        #expect(ended.wait(timeout: .now() + 300) == .success)
        epilog.finally {
          dispatchPrecondition(condition: .onQueue(.main))
          log("late")
          ended.signal()
        }
        #expect(ended.wait(timeout: .now() + 300) == .success)
      }
      #expect(log.entries == ["1", "finally", "late"])
    }
  }
}

/// Runs `body` on a thread of its own, while the main thread serves the main queue.
private func onOwnThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      body()
      continuation.resume()
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing
import coswift

@Suite(.timeLimit(.minutes(30)))
struct CoswiftMisuseTests {
  @Test func `an error that nobody looks at is printed (3.3-14)`() async throws {
    let result = try await #require(
      processExitsWith: .success,
      observing: [\.standardErrorContent]
    ) {
      let end = DispatchSemaphore(value: 0)
      do {
        let queue = DispatchQueue(label: "test")
        co_launch(queue: queue) { throw Problem(7) }
        // Looked at, or no failure: not printed.
        let seen = co_launch(queue: queue) { throw Problem(8) }
        let cancelled = co_launch(queue: queue) { try co_delay(60) }
        cancelled.cancel()
        co_launch(queue: queue) {
          seen.join()
          cancelled.join()
          end.signal()
        }
      }
      end.wait()
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("nobody looked at: Problem(number: 7)"))
    #expect(!text.contains("Problem(number: 8)"))
    #expect(!text.contains("ancel"))
  }

  @Test func `loops that wait stop outside a coroutine, with a message`() async throws {
    let generator = try await #require(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      for _ in co_sequence(Int.self, block: { try yield { 1 } }) {}
    }
    #expect(
      String(decoding: generator.standardErrorContent, as: UTF8.self).contains("co_launch { }")
    )
    let progress = try await #require(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      for _ in COProgressPromise<Int>() {}
    }
    #expect(
      String(decoding: progress.standardErrorContent, as: UTF8.self).contains("no coroutine runs")
    )
  }

  @Test func `a stack above the limit and a delay of no number stop with a message (3.3-17)`()
    async throws
  {
    let stack = try await #require(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      co_launch(stackSize: .max) {}
    }
    #expect(String(decoding: stack.standardErrorContent, as: UTF8.self).contains("512 MiB"))
    let delay = try await #require(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try co_delay(.nan)
    }
    #expect(String(decoding: delay.standardErrorContent, as: UTF8.self).contains("co_delay(nan)"))
  }

  @Test func `join says that it cannot wait outside a coroutine`() async throws {
    let result = try await #require(
      processExitsWith: .success,
      observing: [\.standardErrorContent]
    ) {
      Coroutine(block: {}, on: DispatchQueue(label: "test")).join()
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("has not waited"))
  }
}

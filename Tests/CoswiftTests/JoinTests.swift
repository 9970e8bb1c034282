// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing
import coswift

@Suite(.timeLimit(.minutes(30)))
struct JoinTests {
  @Test func `any number of coroutines join one, on any queues (3.3-4, 3.4-11)`() throws {
    try inCoroutine { () throws in
      let joined = Cell(0)
      let target = co_launch { try co_delay(0.02) }
      let joiners = (0..<8).map { number in
        co_launch(queue: number % 2 == 0 ? nil : DispatchQueue(label: "joiner \(number)")) {
          target.join()
          joined.update { $0 += 1 }
        }
      }
      for joiner in joiners { joiner.join() }
      #expect(joined.value == 8)
    }
  }

  @Test func `a joiner that is cancelled returns early and its next wait throws (3.3-4)`() throws {
    try inCoroutine { () throws in
      let log = Log()
      let target = co_launch_now { try co_delay(60) }
      let joiner = co_launch_now {
        target.join()
        log("returned, cancelled \(co_isCancelled)")
        log("\(cancellation { try co_delay(0) }.map { "\($0)" } ?? "did not throw")")
      }
      joiner.cancelAndJoin()
      #expect(log.entries == ["returned, cancelled true", "coroutineCancelled"])
      #expect(!target.isFinished)
      target.cancelAndJoin()
    }
  }

  @Test func `a coroutine that joins itself goes on (3.3-4)`() throws {
    try inCoroutine { () throws in
      let coroutine = co_launch { Coroutine.current()?.join() }
      coroutine.join()
      #expect(coroutine.isFinished)
    }
  }

  @Test func `join outside a coroutine returns at once`() throws {
    let target = co_launch(queue: DispatchQueue(label: "target")) { try co_delay(60) }
    target.join()
    #expect(!target.isFinished)
    target.cancel()
    try inCoroutine { target.join() }
    target.join()
    #expect(target.isFinished)
  }

  @Test func `joining waits for a coroutine that is resumed later`() throws {
    try inCoroutine { () throws in
      let log = Log()
      let target = Coroutine(block: { log("body") })
      co_launch {
        log("resumes")
        target.resume()
      }
      target.join()
      log("joined")
      #expect(log.entries == ["resumes", "body", "joined"])
    }
  }

  @Test func `cancelAndJoin waits until the body has unwound`() throws {
    try inCoroutine { () throws in
      let log = Log()
      let target = co_launch_now {
        defer { log("unwound") }
        try co_delay(60)
      }
      target.cancelAndJoin()
      log("joined")
      target.cancelAndJoin()
      #expect(log.entries == ["unwound", "joined"])
    }
  }

  @Test func `joins, cancels and looks from many threads race without harm (3.3-5)`() throws {
    try inCoroutine { () throws in
      for _ in 0..<50 {
        let target = co_launch(queue: DispatchQueue(label: "target")) { try co_delay(0.0001) }
        let others = (0..<4).map { number in
          co_launch(queue: .global()) {
            if number % 2 == 0 { target.cancel() }
            _ = target.isFinished || target.isCancelled || target.lastError != nil
            target.join()
            #expect(target.isFinished)
          }
        }
        for other in others { other.join() }
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch
import Testing

/// Rule 12 for blocks that Dispatch calls on the stack of a coroutine of a queue.
@Suite(.timeLimit(.minutes(30))) struct WaitInsideSyncTests {
  @Test func `a wait inside another queue's sync stops and says where (3.4-18, rule 12)`()
    async throws
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try blocking {
        let inner = DispatchQueue(label: "inner")
        let channel = Channel<Int>(name: "numbers")
        let coroutine = launch(on: DispatchQueue(label: "outer"), name: "careless") {
          try inner.sync { _ = try channel.receive() }
        }
        try coroutine.value()
      }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("\"careless\""))
    #expect(text.contains("waits in Channel.receive() on channel \"numbers\""))
    #expect(text.contains("inside a block of `DispatchQueue.sync`"))
    #expect(text.contains("WaitInsideSyncTests.swift"))
  }

  @Test func `so does one inside an iteration of concurrentPerform (rule 12)`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try blocking {
        let coroutine = launch(on: DispatchQueue(label: "outer"), name: "careless") {
          DispatchQueue.concurrentPerform(iterations: 1000) { _ in
            // Most threads have no coroutine, and are refused; the coroutine's own is not. The others leave it some.
            try? Coroutine.sleep(for: .milliseconds(1))
            if Coroutine.current == nil {
              _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .seconds(10))
            }
          }
        }
        try coroutine.join()
      }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("waits in Coroutine.sleep"))
    #expect(text.contains("concurrentPerform"))
  }

  @Test func `what does not wait may be called there`() throws {
    let inner = DispatchQueue(label: "inner")
    let channel = Channel<Int>(capacity: 2)
    let promise = Promise<Int>()
    let coroutine = launch(on: DispatchQueue(label: "outer")) {
      try inner.sync {
        try channel.send(1)
        #expect(channel.sendIfReady(2).isSent)
        promise.fulfill(3)
        return try channel.receive() + promise.await()
      }
    }
    #expect(try runBlocking { try coroutine.value() } == 4)
  }

  @Test func `a coroutine that is launched inside on the inner queue may wait there`() throws {
    let inner = DispatchQueue(label: "inner")
    let channel = Channel<Int>()
    let coroutine = launch(on: DispatchQueue(label: "outer")) {
      let child = inner.sync {
        launch(on: inner, start: .immediately) {
          dispatchPrecondition(condition: .onQueue(inner))
          let value = try channel.receive()
          dispatchPrecondition(condition: .onQueue(inner))
          return value
        }
      }
      try channel.send(5)
      return try child.value()
    }
    #expect(try runBlocking { try coroutine.value() } == 5)
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Dispatch
import Foundation
import Testing
import coswift

@Suite(.timeLimit(.minutes(30)))
struct CoroutineTests {
  @Test func `a child is cancelled with its parent, on any queue (2.1-5, 3.3-1, 3.4-9)`()
    throws
  {
    try inCoroutine { () throws in
      let log = Log()
      let parent = co_launch_now {
        co_launch_now {
          defer { log("child") }
          try co_delay(60)
        }
        let started = Chan<Int>()
        co_launch(queue: DispatchQueue(label: "other")) {
          co_launch_now {
            defer { log("grandchild elsewhere") }
            try co_delay(60)
          }
          defer { log("child elsewhere") }
          try started.send(val: 1)
          try co_delay(60)
        }
        _ = try started.receive()
        log("started")
        try co_delay(60)
      }
      while !log.entries.contains("started") { try co_delay(0.001) }
      parent.cancelAndJoin()
      while log.entries.count < 4 { try co_delay(0.001) }
      #expect(log.entries.first == "started")
      #expect(
        Set(log.entries.dropFirst()) == ["child", "child elsewhere", "grandchild elsewhere"]
      )
    }
  }

  @Test func `a parent that ends leaves its children running`() throws {
    try inCoroutine { () throws in
      let result = Chan<String>(buffCount: 1)
      let parent = co_launch {
        co_launch {
          try co_delay(0.02)
          try result.send(val: "child ended")
        }
      }
      parent.join()
      #expect(parent.isFinished)
      #expect(try result.receive() == "child ended")
    }
  }

  @Test func `co_delay takes its time (2.1-8)`() throws {
    try inCoroutine { () throws in
      let isInTime = try succeeds {
        let start = Date()
        try co_delay(0.3)
        let elapsed = Date().timeIntervalSince(start)
        #expect(elapsed >= 0.299)
        return elapsed < 3
      }
      #expect(isInTime)
    }
  }

  @Test func `calls that wait throw outside a coroutine (2.1-9, 2.1-37, 2.1-51, 3.3-10, 3.4-17)`() {
    let promise = Promise<Int>()
    let channel = Chan<Int>(buffCount: 1)
    let generator = co_sequence(Int.self) { try yield { 1 } }
    let calls: [() throws -> Void] = [
      { try co_delay(0) },
      { _ = try co_await(promise: promise) },
      { _ = try `await`(promise: promise) },
      { _ = try co_await(channel: channel) },
      { _ = try co_await { promise } },
      { _ = try co_await { channel } },
      { _ = try batch_await([promise]) },
      { _ = try batch_await([Promise<Int>]()) },
      { try channel.send(val: 1) },
      { _ = try channel.receive() },
      { _ = try channel.receiveAll() },
      { _ = try channel.receiveWithCount(count: 0) },
      { _ = try generator.next() },
      { _ = try generator.take() },
      { _ = try generator.take(1) },
      { try yield { 1 } },
      { try yield { promise } },
    ]
    for call in calls { #expect(cancellation(of: call) == .invalidCoroutine) }
    #expect(Coroutine.current() == nil)
    #expect(!Coroutine.isActive())
    #expect(!co_isActive)
    #expect(!co_isCancelled)
    #expect(co_getError() == nil)
    #expect(co_getYieldParam() == nil)
    // Nothing was begun, sent or taken.
    #expect(promise.isPending)
    #expect(channel.receive_nonblock() == nil)
  }

  @Test func `a body that ends is finished and releases what it held (2.1-10, 2.1-21)`() throws {
    try inCoroutine { () throws in
      let log = Log()
      let ended = co_launch { [probe = Probe { log("ended one released") }] in
        withExtendedLifetime(probe) {}
      }
      ended.join()
      #expect(ended.isFinished)
      #expect(!ended.isCancelled)
      try co_delay(0)
      #expect(log.entries == ["ended one released"])

      let cancelled = co_launch_now { [probe = Probe { log("cancelled one released") }] in
        defer { withExtendedLifetime(probe) {} }
        try co_delay(60)
      }
      cancelled.cancelAndJoin()
      try co_delay(0)
      #expect(log.entries.last == "cancelled one released")

      let unstarted = co_launch { [probe = Probe { log("unstarted one released") }] in
        withExtendedLifetime(probe) {}
      }
      unstarted.cancelAndJoin()
      try co_delay(0)
      #expect(log.entries.last == "unstarted one released")
    }
  }

  /// Runs `body` on a thread of its own.
  ///
  /// What is launched there goes to the queue that the process shares, on which other tests' coroutines wait
  /// for tasks: a test that blocked one of the task pool's few threads meanwhile would wait for itself.
  private func onOwnThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        body()
        continuation.resume()
      }
    }
  }

  @Test func `coroutines can be launched on a thread without a queue (2.1-13, 3.3-9)`() async {
    let log = Log()
    await onOwnThread {
      let done = DispatchSemaphore(value: 0)
      co_launch {
        try co_delay(0.001)
        let promise = Promise<Int> { fulfill, _ in fulfill(1) }
        log("\(try co_await(promise: promise).get())")
        done.signal()
      }
      #expect(done.wait(timeout: .now() + 300) == .success)
    }
    #expect(log.entries == ["1"])
  }

  @Test func `launches on a thread without a queue start in order`() async {
    let log = Log()
    await onOwnThread {
      let done = DispatchSemaphore(value: 0)
      for number in 0..<10 { co_launch { log("\(number)") } }
      co_launch {
        try co_delay(0.001)
        done.signal()
      }
      #expect(done.wait(timeout: .now() + 300) == .success)
    }
    #expect(log.entries == (0..<10).map { "\($0)" })
  }

  @Test func `the running coroutine is the one that was launched`() throws {
    try inCoroutine { () throws in
      let handle = Cell<Coroutine?>(nil)
      let coroutine = Coroutine(block: { handle.value = Coroutine.current() })
      #expect(!coroutine.resumed)
      coroutine.resume()
      #expect(coroutine.resumed)
      coroutine.join()
      #expect(handle.value === coroutine)
      #expect(Coroutine.current() !== coroutine)
      #expect(Coroutine.isActive())
    }
  }

  @Test func `what a body throws is its lastError`() throws {
    try inCoroutine { () throws in
      let coroutine = co_launch { throw Problem(7) }
      #expect(coroutine.lastError == nil)
      coroutine.join()
      #expect(coroutine.lastError as? Problem == Problem(7))
    }
  }

  @Test func `a cancelled body's lastError says so, started or not`() throws {
    try inCoroutine { () throws in
      let started = co_launch_now { try co_delay(60) }
      let unstarted = co_launch { Issue.record("ran") }
      let unresumed = Coroutine(block: { Issue.record("ran") })
      for coroutine in [started, unstarted, unresumed] {
        coroutine.cancelAndJoin()
        #expect(coroutine.isCancelled)
        #expect(coroutine.isFinished)
        #expect(coroutine.lastError as? COError == .coroutineCancelled)
      }
      unresumed.resume()
      try co_delay(0.001)
    }
  }

  @Test func `finishedBlock runs on the queue, before those who join`() throws {
    let queue = DispatchQueue(label: "test")
    try inCoroutine(on: queue) { () throws in
      let log = Log()
      let coroutine = co_launch { log("body") }
      coroutine.finishedBlock = {
        dispatchPrecondition(condition: .onQueue(queue))
        log("finished \(coroutine.isFinished)")
      }
      coroutine.join()
      log("joined")
      #expect(log.entries == ["body", "finished true", "joined"])
    }
  }

  @Test func `cancelling after the end does nothing`() throws {
    try inCoroutine { () throws in
      let coroutine = co_launch {}
      coroutine.join()
      coroutine.cancel()
      #expect(!coroutine.isCancelled)
      #expect(coroutine.lastError == nil)
    }
  }

  @Test func `a stack has the size that was asked for, or the usual one (3.3-17, 3.4-12)`() throws {
    func depth(_ count: Int) -> Int { count == 0 ? 0 : 1 + depth(count - 1) }
    try inCoroutine { () throws in
      for size: UInt32? in [nil, 0, 128 << 10, 4 << 20] {
        let coroutine = co_launch(stackSize: size) {
          #expect(depth(size == 4 << 20 ? 10_000 : 100) > 0)
        }
        coroutine.join()
        #expect(coroutine.lastError == nil)
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import CoroutinesTesting
import Testing

#if COROUTINES_CHECKED

/// What a dispatch queue is to its scheduler: blocks, called in order, here by two threads at once as on a
/// concurrent queue.
private final class SimulatedQueue: TurnHost, @unchecked Sendable {
  // SAFETY: threads of a race take turns.
  private var blocks: [() -> Void] = []
  private var timer: (() -> Void)?
  private var servers: Set<UInt> = []
  private var live = 0
  private var isUsed = false

  func perform(_ block: @escaping () -> Void) {
    preemptionPoint(.post, UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()))
    isUsed = true
    blocks.append(block)
  }

  var isHere: Bool { servers.contains(UInt(bitPattern: currentThread())) }

  func setTimer(after delay: Int64, _ block: @escaping () -> Void) { timer = block }
  func clearTimer() { timer = nil }
  func coroutineBegan() { live += 1 }
  func coroutineEnded() { live -= 1 }

  /// Calls blocks until all coroutines have ended.
  func serve() {
    let thread = UInt(bitPattern: currentThread())
    servers.insert(thread)
    while true {
      waitInRace(on: self) { !self.blocks.isEmpty || (self.isUsed && self.live == 0) }
      guard !blocks.isEmpty else { break }
      blocks.removeFirst()()
    }
    servers.remove(thread)
  }
}

/// Wake-ups of coroutines on queues, whose blocks find the turn free or taken.
@Suite(.timeLimit(.minutes(30))) struct TurnRaceTests {
  private final class Queue {
    let host = SimulatedQueue()
    let scheduler: Scheduler
    let channel = Channel<Int>()
    var values: [Int] = []
    var running = 0
    var most = 0

    init() { scheduler = Scheduler(core: HostedCore(host: host, label: "simulated queue")) }
  }

  @Test func `no wake-up of a queue's coroutine is lost, and its coroutines run one at a time`()
    throws
  {
    let report = try Race { Queue() }
      .thread { $0.host.serve() }
      .thread { $0.host.serve() }
      .thread { queue in
        for _ in 0..<2 {
          let body: () throws -> Void = {
            queue.running += 1
            queue.most = max(queue.most, queue.running)
            queue.running -= 1
            let value = try queue.channel.receive()
            queue.running += 1
            queue.most = max(queue.most, queue.running)
            queue.values.append(value)
            queue.running -= 1
          }
          // SAFETY: threads of a race take turns.
          nonisolated(unsafe) let unshared = body
          launch(on: queue.scheduler) { try unshared() }
        }
        try runBlocking {
          try queue.channel.send(1)
          try queue.channel.send(2)
        }
      }
      .explore(.exhaustive(delays: 3), runs: 4_000) { queue in
        try #require(queue.values.sorted() == [1, 2])
        try #require(queue.most == 1)
      }
    #expect(report.runs > 50)
  }

  @Test func `a cancellation from elsewhere reaches a coroutine of a queue (rule 2)`() throws {
    try Race { Queue() }
      .thread { $0.host.serve() }
      .thread { $0.host.serve() }
      .thread { queue in
        let body: () throws -> Void = {
          do {
            queue.values.append(try queue.channel.receive())
          } catch is CancellationError {
            queue.values.append(-1)
          }
        }
        // SAFETY: as above.
        nonisolated(unsafe) let unshared = body
        let coroutine = launch(on: queue.scheduler) { try unshared() }
        _ = queue.channel.sendIfReady(1)
        coroutine.cancel()
      }
      .explore(.exhaustive(delays: 3), runs: 4_000) { queue in
        // Cancelled before its start, it never runs (C4).
        try #require(queue.values == [] || queue.values == [1] || queue.values == [-1])
      }
  }
}

#endif

// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

/// The runtime keeps the open accesses of each thread in a list that runs through the stacks.
///
/// That the tests that change threads need the protection was checked by emptying
/// `cck_exclusivity_enter` and `cck_exclusivity_exit`: the first and the third then die every time of
/// a null pointer in the runtime's list (Swift 6.3.1, x86_64, debug).
@Suite struct ExclusivityTests {
  private final class Account: @unchecked Sendable {
    // SAFETY: each is used by one coroutine at a time.
    var balance = 0
    var twin = 0
  }

  /// Holds an access to a class's property while `wait` parks.
  @inline(never)
  private static func add(_ amount: Int, to balance: inout Int, _ wait: () throws -> Void) throws {
    balance += amount
    try wait()
    balance += amount
  }

  /// A loop whose blocks two threads call in turns.
  private final class TwoThreads: TurnHost, @unchecked Sendable {
    // SAFETY: `pending`, `isBusy` and `turn` are guarded by `lock`.
    private let threads = [SerialScheduler(name: "even"), SerialScheduler(name: "odd")]
    private let lock = AllocatedLock()
    private var pending: [() -> Void] = []
    private var isBusy = false
    private var turn = 0

    func perform(_ block: @escaping () -> Void) {
      let isFirst = lock.withLock {
        pending.append(block)
        defer { isBusy = true }
        return !isBusy
      }
      if isFirst { callNext() }
    }

    private func callNext() {
      let thread = lock.withLock {
        turn ^= 1
        return turn
      }
      _ = threads[thread].core.post {
        self.lock.withLock { self.pending.removeFirst() }()
        let isOver = self.lock.withLock {
          self.isBusy = !self.pending.isEmpty
          return !self.isBusy
        }
        if !isOver { self.callNext() }
      }
    }

    var isHere: Bool { false }
    func setTimer(after delay: Int64, _ block: @escaping () -> Void) {}
    func clearTimer() {}
    func coroutineBegan() {}
    func coroutineEnded() {}
  }

  /// In a process of its own, where nobody else asks a scheduler for something, such as a dump: that is a turn, too.
  @Test(arguments: [true, false])
  func `an access held across a park goes along to another thread`(inTurns: Bool) async {
    await #expect(processExitsWith: .success) { [inTurns] in
      let threadChanges = Counter()
      let (coroutines, rounds) = (32, 60)
      let accounts = (0..<coroutines).map { _ in Account() }
      let gates = SerialScheduler(name: "waker")
      try blocking {
        let workers = accounts.map { account in
          let scheduler =
            inTurns
            ? Scheduler(core: HostedCore(host: TwoThreads(), label: "two threads"))
            : .queue(DispatchQueue(label: "serial"))
          return launch(on: scheduler) {
            for _ in 0..<rounds {
              let before = currentThread()
              try ExclusivityTests.add(1, to: &account.balance) {
                // A yield is a block of its own: another thread, where they take turns.
                if inTurns { return try Coroutine.yield() }
                let gate = Gate()
                launch(on: gates) { gate.open() }
                try gate.wait()
              }
              if currentThread() != before { threadChanges.add() }
            }
          }
        }
        for worker in workers { try worker.value() }
      }
      #expect(accounts.allSatisfy { $0.balance == 2 * rounds })
      // A queue's blocks may stay on one thread.
      if inTurns { #expect(threadChanges.value == coroutines * rounds) }
    }
  }

  @Test func `accesses of coroutines that interleave on one queue do not mix`() throws {
    let accounts = (0..<100).map { _ in Account() }
    let queue = DispatchQueue(label: "serial")
    try runBlocking {
      let workers = accounts.enumerated().map { index, account in
        launch(on: queue) {
          for round in 0..<20 {
            try Self.add(1, to: &account.balance) {
              try Self.add(1, to: &account.twin) {
                // Parks of different lengths, so that accesses end in another order than they began.
                for _ in 0...(index + round) % 3 { try Coroutine.yield() }
              }
            }
          }
        }
      }
      for worker in workers { try worker.value() }
    }
    #expect(accounts.allSatisfy { $0.balance == 40 && $0.twin == 40 })
  }

  @Test func `a cancelled coroutine's accesses end on whatever thread unwinds it`() throws {
    let accounts = (0..<64).map { _ in Account() }
    try runBlocking {
      let workers = accounts.map { account in
        launch(on: DispatchQueue(label: "serial")) {
          try Self.add(1, to: &account.balance) { try waitForEver() }
        }
      }
      for worker in workers {
        while worker.state != .suspended { try Coroutine.yield() }
        worker.cancel()
      }
      for worker in workers { try worker.join() }
    }
    for account in accounts {
      // The access is over: another one does not overlap it.
      account.balance += 1
      #expect(account.balance == 2)
    }
  }

  @Test func `on an event loop accesses may end in any order`() throws {
    let accounts = (0..<50).map { _ in Account() }
    try runBlocking {
      let workers = accounts.enumerated().map { index, account in
        launch {
          try Self.add(1, to: &account.balance) {
            for _ in 0..<(index * 7) % 11 { try Coroutine.yield() }
          }
        }
      }
      for worker in workers { try worker.value() }
    }
    #expect(accounts.allSatisfy { $0.balance == 2 })
  }

  @Test func `real overlaps are still found`() async {
    await #expect(processExitsWith: .failure) {
      let account = Account()
      try blocking {
        let first = launch { try Self.add(1, to: &account.balance) { try Coroutine.yield() } }
        let second = launch { try Self.add(1, to: &account.balance) { try Coroutine.yield() } }
        try first.value()
        try second.value()
      }
    }
  }
}

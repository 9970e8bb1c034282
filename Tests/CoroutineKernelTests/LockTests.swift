// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Dispatch
import Synchronization
import Testing

@Suite struct LockTests {
  /// A lock and something it guards, in memory that does not move.
  private final class Guarded: @unchecked Sendable {
    // SAFETY: `count` and `twin` are guarded by `lock`.
    let lock: UnsafeMutablePointer<Lock>
    var count = 0
    var twin = 0

    init(_ lock: Lock) {
      self.lock = .allocate(capacity: 1)
      self.lock.initialize(to: lock)
    }

    deinit {
      lock.deallocate()
    }

    /// False if somebody else was inside at the same time.
    func increment() -> Bool { lock.withLock { incrementInside() } }

    /// The same, by the keeper, which makes the lock its own each time.
    func incrementAndKeep() -> Bool {
      let thread = currentThread()
      let mode = lock.acquire(thread)
      defer { lock.release(mode) }
      if mode == CCK_LOCK_TAKEN_SHARED { cck_lock_keep(lock, thread) }
      return incrementInside()
    }

    /// The same, on another thread than the keeper's.
    func incrementElsewhere() -> Bool {
      lock.acquireFromKeeper()
      defer { lock.release(CCK_LOCK_TAKEN_SHARED) }
      return incrementInside()
    }

    private func incrementInside() -> Bool {
      let wasAlone = count == twin
      count += 1
      twin += 1
      return wasAlone
    }
  }

  enum Kind: CaseIterable, CustomTestStringConvertible {
    case biased
    case shared

    var testDescription: String { self == .biased ? "biased" : "shared" }

    var lock: Lock { self == .biased ? cck_lock_make_biased() : cck_lock_make_shared() }
  }

  @Test(arguments: Kind.allCases)
  func `one thread takes and leaves it at will`(_ kind: Kind) {
    let guarded = Guarded(kind.lock)
    for _ in 0..<1_000_000 { _ = guarded.increment() }
    #expect(guarded.count == 1_000_000)
  }

  @Test func `the first thread to take a biased lock owns it`() {
    let guarded = Guarded(cck_lock_make_biased())
    let thread = currentThread()
    let mode = guarded.lock.acquire(thread)
    guarded.lock.release(mode)
    #expect(
      mode == (cck_lock_make_biased().owner == 0 ? CCK_LOCK_TAKEN_BIASED : CCK_LOCK_TAKEN_SHARED)
    )
  }

  @Test func `a second thread ends the bias for good`() {
    let guarded = Guarded(cck_lock_make_biased())
    _ = guarded.increment()
    onThreads(1) { _ in _ = guarded.increment() }
    #expect(guarded.lock.pointee.owner == 1)
    let mode = guarded.lock.acquire(currentThread())
    guarded.lock.release(mode)
    #expect(mode == CCK_LOCK_TAKEN_SHARED)
    #expect(guarded.count == 2)
  }

  @Test(arguments: Kind.allCases)
  func `four threads exclude each other through two million increments`(_ kind: Kind) {
    let guarded = Guarded(kind.lock)
    let overlaps = Counter()
    onThreads(4) { _ in
      for _ in 0..<500_000 where !guarded.increment() { overlaps.add() }
    }
    #expect(overlaps.value == 0)
    #expect(guarded.count == 2_000_000)
  }

  @Test func `a revocation in the middle of the owner's work loses no increment`() {
    // Each round has a fresh lock, whose owner works on while two others come and revoke the bias.
    let rounds = 2_000
    let each = 200
    let locks = (0..<rounds).map { _ in Guarded(cck_lock_make_biased()) }
    let overlaps = Counter()
    let turn = Counter()
    onThreads(3) { index in
      for (round, guarded) in locks.enumerated() {
        if index == 0 {
          // The owner announces the round once the lock is its own.
          if !guarded.increment() { overlaps.add() }
          turn.add()
        } else {
          while turn.value <= round { giveWay() }
          if !guarded.increment() { overlaps.add() }
        }
        for _ in 1..<each where !guarded.increment() { overlaps.add() }
      }
    }
    #expect(overlaps.value == 0)
    #expect(locks.allSatisfy { $0.count == 3 * each })
  }

  @Test func `a keeper has the lock biased again, until somebody comes for it (L7)`() {
    let guarded = Guarded(cck_lock_make_shared())
    let kept = cck_lock_make_biased().owner == 0 ? CCK_LOCK_TAKEN_BIASED : CCK_LOCK_TAKEN_SHARED
    for _ in 0..<3 {
      #expect(guarded.incrementAndKeep())
      let mode = guarded.lock.acquire(currentThread())
      guarded.lock.release(mode)
      #expect(mode == kept)
      onThreads(1) { _ in _ = guarded.incrementElsewhere() }
      #expect(cck_lock_is_shared(guarded.lock) != 0)
    }
    #expect(guarded.count == 6)
  }

  @Test func `a keeper and those who come for its lock exclude each other (L7)`() {
    let guarded = Guarded(cck_lock_make_shared())
    let (overlaps, made) = (Counter(), Counter())
    // On two processors one of three may come when the others have had all of theirs: these go on until it has been there.
    let (kept, left) = (Counter(), Counter())
    let each = 100_000
    let keptAtLeast = 1_000
    onThreads(3) { index in
      var count = 0
      if index > 0 {
        while count < each || kept.value < keptAtLeast {
          if !guarded.incrementElsewhere() { overlaps.add() }
          count += 1
        }
        left.add()
      } else {
        while left.value < 2 {
          if !guarded.incrementAndKeep() { overlaps.add() }
          count += 1
          kept.add()
        }
      }
      made.add(count)
    }
    #expect(overlaps.value == 0)
    #expect(guarded.count == made.value && guarded.twin == made.value)
  }

  @Test func `who comes at any moment finds the lock as its keeper has left it (L7)`() {
    let guarded = Guarded(cck_lock_make_shared())
    let (overlaps, made) = (Counter(), Counter())
    let (kept, left) = (Counter(), Counter())
    var random = SystemRandomNumberGenerator()
    let pauses = (0..<300_000).map { _ in Int.random(in: 0..<32, using: &random) }
    onThreads(2) { index in
      var count = 0
      if index > 0 {
        while kept.value == 0 {}
        // Alone, and with the keeper inside, on the way in or out, or between: two that come would keep the keeper away.
        for pause in pauses {
          for _ in 0..<pause { cck_processor_pause() }
          if !guarded.incrementElsewhere() { overlaps.add() }
          count += 1
        }
        left.add()
      } else {
        while left.value == 0 {
          if !guarded.incrementAndKeep() { overlaps.add() }
          count += 1
          if count == 1 { kept.add() }
        }
      }
      made.add(count)
    }
    #expect(overlaps.value == 0)
    #expect(guarded.count == made.value && guarded.twin == made.value)
  }

  @Test func `threads that race for an unowned lock agree on who is inside`() {
    let locks = (0..<20_000).map { _ in Guarded(cck_lock_make_biased()) }
    let overlaps = Counter()
    onThreads(3) { _ in
      for guarded in locks where !guarded.increment() { overlaps.add() }
    }
    #expect(overlaps.value == 0)
    #expect(locks.allSatisfy { $0.count == 3 })
  }

  @Test func `the record of an ended thread does not let a later one in beside others`() {
    // Threads come and go, so that records, and with them biases, are used again.
    let locks = (0..<50).map { _ in Guarded(cck_lock_make_biased()) }
    let overlaps = Counter()
    for _ in 0..<40 {
      onThreads(2) { _ in
        for guarded in locks where !guarded.increment() { overlaps.add() }
      }
    }
    #expect(overlaps.value == 0)
    #expect(locks.allSatisfy { $0.count == 80 })
  }

  @Test func `trying takes a free lock, finds one's own, and does not wait for another's`() {
    let guarded = Guarded(cck_lock_make_biased())
    let thread = currentThread()
    let works = guarded.lock.pointee.owner == 0
    let first = guarded.lock.tryAcquire(thread)
    #expect(first == (works ? CCK_LOCK_HELD_BIASED : CCK_LOCK_HELD_SHARED))
    // Only in biased mode it is known whose it is.
    let again = guarded.lock.tryAcquire(thread)
    #expect(again == (works ? CCK_LOCK_HELD_ALREADY : CCK_LOCK_NOT_TAKEN))
    onThreads(1) { _ in
      #expect(guarded.lock.tryAcquire(currentThread()) == CCK_LOCK_NOT_TAKEN)
    }
    guarded.lock.release(works ? CCK_LOCK_TAKEN_BIASED : CCK_LOCK_TAKEN_SHARED)
    onThreads(1) { _ in _ = guarded.increment() }
    #expect(guarded.lock.tryAcquire(thread) == CCK_LOCK_HELD_SHARED)
    #expect(guarded.lock.tryAcquire(thread) == CCK_LOCK_NOT_TAKEN)
    guarded.lock.release(CCK_LOCK_TAKEN_SHARED)
    #expect(guarded.increment())
  }

  @Test func `those who try and those who wait exclude each other`() {
    let locks = (0..<200).map { _ in Guarded(cck_lock_make_biased()) }
    let overlaps = Counter()
    onThreads(3) { index in
      let thread = currentThread()
      for guarded in locks {
        for _ in 0..<200 {
          // Trying takes no bias away from another thread: that is for those who wait.
          let hold = index > 0 ? guarded.lock.tryAcquire(thread) : CCK_LOCK_NOT_TAKEN
          guard hold == CCK_LOCK_HELD_BIASED || hold == CCK_LOCK_HELD_SHARED else {
            if !guarded.increment() { overlaps.add() }
            continue
          }
          if guarded.count != guarded.twin { overlaps.add() }
          guarded.count += 1
          guarded.twin += 1
          guarded.lock.release(
            hold == CCK_LOCK_HELD_BIASED ? CCK_LOCK_TAKEN_BIASED : CCK_LOCK_TAKEN_SHARED
          )
        }
      }
    }
    #expect(overlaps.value == 0)
    #expect(locks.allSatisfy { $0.count == 600 })
  }

  @Test func `an allocated lock excludes threads and passes errors on`() {
    struct Expected: Error {}
    let lock = AllocatedLock()
    #expect(throws: Expected.self) {
      try lock.withLock { throw Expected() }
    }
    #expect(lock.withLock { 7 } == 7)
  }
}

/// A number that several threads count up.
final class Counter: Sendable {
  private let number = Atomic<Int>(0)

  var value: Int { number.load(ordering: .acquiring) }

  @discardableResult
  func add(_ amount: Int = 1) -> Int {
    number.wrappingAdd(amount, ordering: .acquiringAndReleasing).newValue
  }

  /// L5.
  @Test func `sixty-four revocations may come at once, then one each millisecond`() {
    let now: Int64 = 5_000_000_000
    var settled: Int64 = 0
    for count in 1...64 {
      settled = cck_lock_settle_revocation(settled, now)
      #expect(settled == now + Int64(count) * 1_000_000)
    }
    #expect(cck_lock_settle_revocation(settled, now) == 0)
    #expect(cck_lock_settle_revocation(settled, now + 999_999) == 0)
    #expect(cck_lock_settle_revocation(settled, now + 1_000_000) == settled + 1_000_000)
    // Time without any is not saved up beyond that.
    let later = now + 3_600_000_000_000
    #expect(cck_lock_settle_revocation(settled, later) == later + 1_000_000)
  }

  /// L5.
  @Test func `after too many revocations a thread's next locks begin in shared mode`() throws {
    struct Finding {
      var firstPays = false
      var withoutBias = 0
      var left: UInt32 = 1
    }
    let finding = Mutex(Finding())
    let end = DispatchSemaphore(value: 0)
    // A thread of its own, which has made no lock: rounds that other tests cause do not disturb it.
    let hasStarted = startKernelThread(named: "locks") {
      let thread = currentThread()
      var found = Finding()
      found.firstPays = cck_lock_bias_pays(thread) != 0
      // Each takes less than a millisecond, but on a machine that has stood still in between.
      for _ in 0..<100_000 where found.withoutBias == 0 {
        cck_lock_revocation_barrier()
        if cck_lock_bias_pays(thread) == 0 { found.withoutBias = 1 }
      }
      while thread.pointee.unbiased_left > 0, cck_lock_bias_pays(thread) == 0 {
        found.withoutBias += 1
      }
      found.left = thread.pointee.unbiased_left
      finding.withLock { [found] in $0 = found }
      end.signal()
    }
    try #require(hasStarted)
    end.wait()
    let found = finding.withLock { $0 }
    #expect(found.firstPays)
    #expect(found.withoutBias == Int(CCK_LOCKS_WITHOUT_BIAS))
    #expect(found.left == 0)
  }
}

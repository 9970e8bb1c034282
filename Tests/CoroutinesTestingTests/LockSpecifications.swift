// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting

/// What calls on locks come to.
enum LockOutcome: Hashable {
  case done
  case truth(Bool)
  case number(Int)
  /// The library says that the caller holds it already.
  case heldByCaller
}

/// A mutex that knows its holder, one operation at a time.
struct MutexSpecification: SequentialSpecification {
  enum Operation: Hashable { case lock, lockIfReady, unlock, isLocked, isHeldByCaller }

  private struct Waiting: Hashable {
    let caller: Int
    let worker: Int
  }

  private var holder: Int?
  private var line: [Waiting] = []

  func possibilities(
    of operation: Operation,
    by caller: Int,
    in worker: Int
  ) -> [(after: MutexSpecification, ended: [Completion<LockOutcome>])] {
    var after = self
    let ended = after.go(operation, caller, worker)
    return [(after, ended)]
  }

  private mutating func go(
    _ operation: Operation,
    _ caller: Int,
    _ worker: Int
  ) -> [Completion<LockOutcome>] {
    switch operation {
    case .lock where holder == worker: return [Completion(caller, .heldByCaller)]
    case .lock where holder != nil:
      line.append(Waiting(caller: caller, worker: worker))
      return []
    case .lock:
      holder = worker
      return [Completion(caller, .done)]
    case .lockIfReady:
      let isFree = holder == nil
      if isFree { holder = worker }
      return [Completion(caller, .truth(isFree))]
    case .unlock where holder != worker: return [Completion(caller, .truth(false))]
    case .unlock where line.isEmpty:
      holder = nil
      return [Completion(caller, .truth(true))]
    case .unlock:
      let next = line.removeFirst()
      holder = next.worker
      return [Completion(caller, .truth(true)), Completion(next.caller, .done)]
    case .isLocked: return [Completion(caller, .truth(holder != nil))]
    case .isHeldByCaller: return [Completion(caller, .truth(holder == worker))]
    }
  }
}

extension CoroutineMutex {
  func perform(_ operation: MutexSpecification.Operation) throws -> LockOutcome {
    switch operation {
    case .lock:
      do {
        try lock()
        return .done
      } catch SynchronizationError.heldByCaller {
        return .heldByCaller
      } catch SynchronizationError.holderFinished {
        // A worker ended and kept the mutex. The library says so; to the specification it is a wait.
        try Promise<Void>().await()
        return .done
      }
    case .lockIfReady: return .truth(lockIfReady())
    case .unlock:
      // By anyone else it would be a misuse that stops the program.
      guard isHeldByCaller else { return .truth(false) }
      unlock()
      return .truth(true)
    case .isLocked: return .truth(isLocked)
    case .isHeldByCaller: return .truth(isHeldByCaller)
    }
  }
}

/// A semaphore whose permits are asked for in ones and twos: nobody overtakes.
struct WeightedSemaphoreSpecification: SequentialSpecification {
  enum Operation: Hashable { case acquire(Int), acquireIfReady(Int), release(Int), available }

  private struct Waiting: Hashable {
    let caller: Int
    let count: Int
  }

  private var permits: Int
  private var line: [Waiting] = []

  init(permits: Int) { self.permits = permits }

  mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<LockOutcome>] {
    switch operation {
    case .acquire(let count):
      line.append(Waiting(caller: caller, count: count))
      return handOut()
    case .acquireIfReady(let count):
      let isReady = line.isEmpty && permits >= count
      if isReady { permits -= count }
      return [Completion(caller, .truth(isReady))]
    case .release(let count):
      permits += count
      return [Completion(caller, .done)] + handOut()
    case .available: return [Completion(caller, .number(permits))]
    }
  }

  mutating func withdraw(_ caller: Int) -> [Completion<LockOutcome>]? {
    line.removeAll { $0.caller == caller }
    // Those behind may ask for less.
    return handOut()
  }

  private mutating func handOut() -> [Completion<LockOutcome>] {
    var ended: [Completion<LockOutcome>] = []
    while let first = line.first, first.count <= permits {
      permits -= first.count
      ended.append(Completion(first.caller, .done))
      line.removeFirst()
    }
    return ended
  }
}

extension CoroutineSemaphore {
  func perform(_ operation: WeightedSemaphoreSpecification.Operation) throws -> LockOutcome {
    switch operation {
    case .acquire(let count):
      try acquire(count)
      return .done
    case .acquireIfReady(let count): return .truth(acquireIfReady(count))
    case .release(let count):
      release(count)
      return .done
    case .available: return .number(available)
    }
  }
}

/// A read-write lock: who waits is not overtaken.
struct ReadWriteSpecification: SequentialSpecification {
  enum Operation: Hashable { case read, write, readIfReady, writeIfReady, leave }

  private struct Waiting: Hashable {
    let caller: Int
    let worker: Int
    let writes: Bool
  }

  /// Who is in, by worker.
  private var readers: Set<Int> = []
  private var writer: Int?
  private var line: [Waiting] = []

  func possibilities(
    of operation: Operation,
    by caller: Int,
    in worker: Int
  ) -> [(after: ReadWriteSpecification, ended: [Completion<LockOutcome>])] {
    var after = self
    let ended = after.go(operation, caller, worker)
    return [(after, ended)]
  }

  private func admits(writer writes: Bool) -> Bool {
    writer == nil && (!writes || readers.isEmpty)
  }

  private mutating func enter(_ worker: Int, writes: Bool) {
    if writes { writer = worker } else { readers.insert(worker) }
  }

  private mutating func go(
    _ operation: Operation,
    _ caller: Int,
    _ worker: Int
  ) -> [Completion<LockOutcome>] {
    let isIn = writer == worker || readers.contains(worker)
    switch operation {
    case .read, .write, .readIfReady, .writeIfReady:
      // One hold a worker at a time; what comes of two has tests of its own.
      if isIn { return [Completion(caller, .heldByCaller)] }
      let writes = operation == .write || operation == .writeIfReady
      let waits = operation == .read || operation == .write
      if line.isEmpty, admits(writer: writes) {
        enter(worker, writes: writes)
        return [Completion(caller, .truth(true))]
      }
      guard waits else { return [Completion(caller, .truth(false))] }
      line.append(Waiting(caller: caller, worker: worker, writes: writes))
      return []
    case .leave:
      guard isIn else { return [Completion(caller, .truth(false))] }
      if writer == worker { writer = nil } else { readers.remove(worker) }
      var ended = [Completion(caller, LockOutcome.truth(true))]
      while let first = line.first, admits(writer: first.writes) {
        enter(first.worker, writes: first.writes)
        ended.append(Completion(first.caller, .truth(true)))
        line.removeFirst()
      }
      return ended
    }
  }
}

/// A read-write lock whose holds last from call to call: each is kept by a coroutine of its own.
final class HeldReadWriteLock {
  private let lock = CoroutineReadWriteLock()
  /// For each worker that is in: what lets its keeper out, and the keeper.
  private var holds: [UInt64: (exit: Promise<Void>, keeper: Coroutine)] = [:]

  func perform(_ operation: ReadWriteSpecification.Operation) throws -> LockOutcome {
    let worker = Coroutine.current?.id ?? 0
    switch operation {
    case .leave:
      guard let hold = holds.removeValue(forKey: worker) else { return .truth(false) }
      hold.exit.fulfill(())
      // The keeper leaves when it runs; this call ends after that.
      try withCancellationShield { try hold.keeper.join() }
      return .truth(true)
    case _ where holds[worker] != nil: return .heldByCaller
    case .read, .write, .readIfReady, .writeIfReady:
      let (entered, exit) = (Promise<Bool>(), Promise<Void>())
      let hold = { () throws -> Void in
        entered.fulfill(true)
        // What its worker does not end ends when the history is over, by the clock of the test.
        try? withTimeout(.seconds(2)) { try exit.await() }
      }
      let keeper = launch(start: .immediately) { [lock] in
        switch operation {
        case .read: try lock.withReadLock(hold)
        case .write: try lock.withWriteLock(hold)
        case .readIfReady: if try lock.withReadLockIfReady(hold) == nil { entered.fulfill(false) }
        default: if try lock.withWriteLockIfReady(hold) == nil { entered.fulfill(false) }
        }
      }
      let isIn = try entered.await()
      if isIn { holds[worker] = (exit, keeper) }
      return .truth(isIn)
    }
  }
}

/// A wait group.
struct WaitGroupSpecification: SequentialSpecification {
  enum Operation: Hashable { case add, done, wait, count }

  private var count = 1
  private var waiting: [Int] = []

  mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<LockOutcome>] {
    switch operation {
    case .add:
      count += 1
      return [Completion(caller, .done)]
    case .done where count == 0: return [Completion(caller, .truth(false))]
    case .done:
      count -= 1
      guard count == 0 else { return [Completion(caller, .truth(true))] }
      defer { waiting = [] }
      return [Completion(caller, .truth(true))] + waiting.map { Completion($0, .done) }
    case .wait where count > 0:
      waiting.append(caller)
      return []
    case .wait: return [Completion(caller, .done)]
    case .count: return [Completion(caller, .number(count))]
    }
  }
}

extension CoroutineWaitGroup {
  func perform(_ operation: WaitGroupSpecification.Operation) throws -> LockOutcome {
    switch operation {
    case .add:
      add()
      return .done
    case .done:
      guard count > 0 else { return .truth(false) }
      done()
      return .truth(true)
    case .wait:
      try wait()
      return .done
    case .count: return .number(count)
    }
  }
}

/// A barrier; the last party of a round is told so.
struct BarrierSpecification: SequentialSpecification {
  enum Operation: Hashable { case wait, leave, waiting, parties }

  private var parties: Int
  private var line: [Int] = []

  init(parties: Int) { self.parties = parties }

  mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<LockOutcome>] {
    switch operation {
    case .wait where line.count + 1 >= parties:
      return [Completion(caller, .truth(true))] + release()
    case .wait:
      line.append(caller)
      return []
    case .leave where parties == 1: return [Completion(caller, .truth(false))]
    case .leave:
      parties -= 1
      let isComplete = !line.isEmpty && line.count >= parties
      return [Completion(caller, .truth(true))] + (isComplete ? release() : [])
    case .waiting: return [Completion(caller, .number(line.count))]
    case .parties: return [Completion(caller, .number(parties))]
    }
  }

  mutating func withdraw(_ caller: Int) -> [Completion<LockOutcome>]? {
    line.removeAll { $0 == caller }
    return []
  }

  private mutating func release() -> [Completion<LockOutcome>] {
    defer { line = [] }
    return line.map { Completion($0, .truth(false)) }
  }
}

extension CoroutineBarrier {
  func perform(_ operation: BarrierSpecification.Operation) throws -> LockOutcome {
    switch operation {
    case .wait: return .truth(try wait())
    case .leave:
      guard parties > 1 else { return .truth(false) }
      leave()
      return .truth(true)
    case .waiting: return .number(waiting)
    case .parties: return .number(parties)
    }
  }
}

/// A condition: signals wake those who wait, first come, first served, and are not kept.
struct ConditionSpecification: SequentialSpecification {
  enum Operation: Hashable { case wait, signal, broadcast }

  private var line: [Int] = []

  mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<LockOutcome>] {
    switch operation {
    case .wait:
      line.append(caller)
      return []
    case .signal:
      guard !line.isEmpty else { return [Completion(caller, .done)] }
      return [Completion(caller, .done), Completion(line.removeFirst(), .done)]
    case .broadcast:
      defer { line = [] }
      return [Completion(caller, .done)] + line.map { Completion($0, .done) }
    }
  }
}

extension CoroutineCondition {
  func perform(_ operation: ConditionSpecification.Operation) throws -> LockOutcome {
    switch operation {
    case .wait: try mutex.withLock { try wait() }
    case .signal: signal()
    case .broadcast: broadcast()
    }
    return .done
  }
}

/// A value that is made once, by the first maker that does not fail.
struct OnceSpecification: SequentialSpecification {
  enum Operation: Hashable { case value(Int), failing, ifReady }
  enum Outcome: Hashable {
    case value(Int?)
    case failed
  }

  private var made: Int?

  mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<Outcome>] {
    switch operation {
    case .value(let new):
      made = made ?? new
      return [Completion(caller, .value(made))]
    case .failing: return [Completion(caller, made.map { .value($0) } ?? .failed)]
    case .ifReady: return [Completion(caller, .value(made))]
    }
  }
}

extension CoroutineOnce<Int> {
  private struct Refused: Error {}

  func perform(_ operation: OnceSpecification.Operation) throws -> OnceSpecification.Outcome {
    switch operation {
    case .value(let new):
      return .value(
        try value {
          try withCancellationShield { try Coroutine.yield() }
          return new
        }
      )
    case .failing:
      do {
        return .value(
          try value {
            try withCancellationShield { try Coroutine.yield() }
            throw Refused()
          }
        )
      } catch is Refused { return .failed }
    case .ifReady: return .value(valueIfReady)
    }
  }
}

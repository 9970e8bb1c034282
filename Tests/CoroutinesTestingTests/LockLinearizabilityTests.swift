// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// The objects of the folder Synchronization against specifications that do one operation at a time; cancelled
/// waits included (rules 3 and 13).
@Suite(.timeLimit(.minutes(30))) struct LockLinearizabilityTests {
  private static func options(_ scenarios: Int, cancels: Bool = true) -> LinearizabilityOptions {
    var options = LinearizabilityOptions()
    options.scenarios = scenarios
    options.runs = 80
    options.operations = 4
    options.cancels = cancels
    return options
  }

  @Test func `a mutex is handed over in line, and knows its holder (rule 13)`() throws {
    let report = try checkLinearizability(
      MutexSpecification(),
      of: [.lock, .lock, .lockIfReady, .unlock, .unlock, .isLocked, .isHeldByCaller],
      options: Self.options(24)
    ) {
      CoroutineMutex()
    } perform: {
      try $0.perform($1)
    }
    #expect(report.histories > 500)
  }

  @Test(arguments: [0, 2]) func `nobody overtakes at a semaphore (rule 13)`(permits: Int) throws {
    try checkLinearizability(
      WeightedSemaphoreSpecification(permits: permits),
      of: [
        .acquire(1), .acquire(2), .acquireIfReady(1), .acquireIfReady(2), .release(1), .release(2),
        .available,
      ],
      options: Self.options(16)
    ) {
      CoroutineSemaphore(permits: permits)
    } perform: {
      try $0.perform($1)
    }
  }

  @Test func `readers and writers go in by line (rule 13)`() throws {
    // Not cancelled: the coroutines that keep the holds would have to be.
    try checkLinearizability(
      ReadWriteSpecification(),
      of: [.read, .write, .readIfReady, .writeIfReady, .leave, .leave],
      options: Self.options(24, cancels: false)
    ) {
      HeldReadWriteLock()
    } perform: {
      try $0.perform($1)
    }
  }

  /// A number that is written in two steps, and read in two.
  private struct Register: SequentialSpecification {
    enum Operation: Hashable { case read, write }
    private var value = 0

    mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<Int>] {
      if operation == .write { value += 1 }
      return [Completion(caller, value)]
    }
  }

  private final class GuardedRegister {
    let lock = CoroutineReadWriteLock()
    var value = 0

    func perform(_ operation: Register.Operation) throws -> Int {
      func pause() throws { try withCancellationShield { try Coroutine.yield() } }
      switch operation {
      case .read:
        return try lock.withReadLock {
          let first = value
          try pause()
          return first == value ? value : -1
        }
      case .write:
        return try lock.withWriteLock {
          let before = value
          try pause()
          value = before + 1
          return value
        }
      }
    }
  }

  @Test func `what a read-write lock guards happens at once, cancelled or not`() throws {
    try checkLinearizability(Register(), of: [.read, .read, .write], options: Self.options(16)) {
      GuardedRegister()
    } perform: {
      try $0.perform($1)
    }
  }

  @Test func `a wait group lets through at zero, whatever the count does then (rule 13)`() throws {
    try checkLinearizability(
      WaitGroupSpecification(),
      of: [.add, .done, .done, .wait, .wait, .count],
      options: Self.options(16)
    ) {
      CoroutineWaitGroup(count: 1)
    } perform: {
      try $0.perform($1)
    }
  }

  @Test(arguments: [1, 2, 3]) func `a barrier counts those who wait, and no others (rule 13)`(
    parties: Int
  ) throws {
    try checkLinearizability(
      BarrierSpecification(parties: parties),
      of: [.wait, .wait, .wait, .leave, .waiting, .parties],
      options: Self.options(12)
    ) {
      CoroutineBarrier(parties: parties)
    } perform: {
      try $0.perform($1)
    }
  }

  @Test func `a signal wakes the first who waits, and is not kept (rule 13)`() throws {
    try checkLinearizability(
      ConditionSpecification(),
      of: [.wait, .wait, .signal, .broadcast],
      options: Self.options(16)
    ) {
      CoroutineCondition(CoroutineMutex())
    } perform: {
      try $0.perform($1)
    }
  }

  @Test func `a value is made once, by the first who can (rule 13)`() throws {
    try checkLinearizability(
      OnceSpecification(),
      of: [.value(1), .value(2), .failing, .ifReady],
      options: Self.options(16)
    ) {
      CoroutineOnce<Int>()
    } perform: {
      try $0.perform($1)
    }
  }

  /// A mutex that forgets to wake the next in line, and one that lets two in.
  private final class BrokenMutex {
    enum Fault: CaseIterable { case lostWakeUp, twoHolders }

    private let fault: Fault
    private var holders: Set<UInt64> = []
    private var line: [Promise<Void>] = []

    init(_ fault: Fault) { self.fault = fault }

    func perform(_ operation: MutexSpecification.Operation) throws -> LockOutcome {
      let own = Coroutine.current?.id ?? 0
      switch operation {
      case .lock where holders.contains(own): return .heldByCaller
      case .lock:
        if !holders.isEmpty {
          let turn = Promise<Void>()
          line.append(turn)
          defer { line.removeAll { $0 === turn } }
          // Whoever comes between the wake-up and here is in, too.
          try turn.await()
        }
        holders.insert(own)
        return .done
      case .unlock where !holders.contains(own): return .truth(false)
      case .unlock:
        holders.remove(own)
        if fault == .twoHolders, !line.isEmpty { line.removeFirst().fulfill(()) }
        return .truth(true)
      case .lockIfReady:
        let isFree = holders.isEmpty
        if isFree { holders.insert(own) }
        return .truth(isFree)
      case .isLocked: return .truth(!holders.isEmpty)
      case .isHeldByCaller: return .truth(holders.contains(own))
      }
    }
  }

  @Test(arguments: [true, false]) func `a lost wake-up and a second holder are found`(
    losesWakeUps: Bool
  ) {
    let failure = #expect(throws: ExplorationFailure.self) {
      try checkLinearizability(
        MutexSpecification(),
        of: [.lock, .unlock, .lockIfReady, .isHeldByCaller],
        options: Self.options(60, cancels: false)
      ) {
        BrokenMutex(losesWakeUps ? .lostWakeUp : .twoHolders)
      } perform: {
        try $0.perform($1)
      }
    }
    #expect(failure?.error is LinearizabilityViolation)
  }

  /// A barrier that still counts a party whose wait was cancelled.
  private final class StickyBarrier {
    private let barrier = CoroutineBarrier(parties: 2)
    private var stuck = 0

    func perform(_ operation: BarrierSpecification.Operation) throws -> LockOutcome {
      guard case .waiting = operation else {
        do { return try barrier.perform(operation) } catch let error as CancellationError {
          stuck += 1
          throw error
        }
      }
      return .number(barrier.waiting + stuck)
    }
  }

  @Test func `a party that still counts after it was cancelled is found (rule 3)`() {
    let failure = #expect(throws: ExplorationFailure.self) {
      try checkLinearizability(
        BarrierSpecification(parties: 2),
        of: [.wait, .waiting, .waiting],
        options: Self.options(60)
      ) {
        StickyBarrier()
      } perform: {
        try $0.perform($1)
      }
    }
    #expect(failure?.error is LinearizabilityViolation)
  }

  // That calls which wait are served in line does not show in what each of them returns: they overlap. So it is
  // looked at directly.

  private struct OutOfLine: Error, CustomStringConvertible {
    let description: String
  }

  enum Line: CaseIterable {
    case mutex, semaphore, writers, once, condition

    /// A call that waits until `let in` is called once for each of those who wait.
    func make() throws -> (wait: () throws -> Void, letIn: () throws -> Void) {
      switch self {
      case .mutex:
        let mutex = CoroutineMutex()
        let gate = CoroutineSemaphore(permits: 0)
        launch(start: .immediately) { try mutex.withLock { try gate.acquire() } }
        return ({ try mutex.withLock { try Coroutine.yield() } }, { gate.release() })
      case .semaphore:
        let semaphore = CoroutineSemaphore(permits: 0)
        return ({ try semaphore.acquire() }, { semaphore.release() })
      case .writers:
        let lock = CoroutineReadWriteLock()
        let gate = CoroutineSemaphore(permits: 0)
        launch(start: .immediately) { try lock.withReadLock { try gate.acquire() } }
        return ({ try lock.withWriteLock { try Coroutine.yield() } }, { gate.release() })
      case .once:
        let once = CoroutineOnce<Void>()
        let gate = CoroutineSemaphore(permits: 0)
        launch(start: .immediately) { try once.value { try gate.acquire() } }
        return ({ try once.value {} }, { gate.release() })
      case .condition:
        let condition = CoroutineCondition(CoroutineMutex())
        return ({ try condition.mutex.withLock { try condition.wait() } }, { condition.signal() })
      }
    }
  }

  @Test(arguments: Line.allCases) func `who waits first goes first, in all orders (rule 13)`(
    line: Line
  ) throws {
    let exploration = try explore(.exhaustive(delays: 4), runs: 1000) {
      let (wait, letIn) = try line.make()
      var (came, went): ([Int], [Int]) = ([], [])
      let waiters = (0..<3).map { number in
        launch(name: "waiter \(number)") {
          came.append(number)
          try wait()
          went.append(number)
        }
      }
      while came.count < 3 { try Coroutine.yield() }
      for number in 1...3 {
        try letIn()
        // One after the other: who was let in goes on before the next one is.
        var turns = 0
        while went.count < number, turns < 20 {
          turns += 1
          try Coroutine.yield()
        }
      }
      for waiter in waiters { try waiter.join() }
      guard came == went else { throw OutOfLine(description: "\(came) came, \(went) went") }
    }
    #expect(exploration.runs > 5)
  }
}

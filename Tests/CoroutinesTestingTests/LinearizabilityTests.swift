// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

@Suite(.timeLimit(.minutes(30))) struct LinearizabilityTests {
  /// Fewer scenarios than by default: these run with all other tests.
  private static let options: LinearizabilityOptions = {
    var options = LinearizabilityOptions()
    options.scenarios = 10
    return options
  }()

  private static let operations: [ChannelSpecification.Operation] = [
    .send(1), .send(2), .sendIfReady(3), .receive, .receive, .receiveIfReady, .close, .count,
    .isClosed,
  ]

  @Test(arguments: [0, 1, 2]) func `a channel that waits is linearizable`(limit: Int) throws {
    let report = try checkLinearizability(
      ChannelSpecification(limit: limit),
      of: Self.operations,
      options: Self.options
    ) {
      Channel<Int>(capacity: limit)
    } perform: {
      try $0.perform($1)
    }
    #expect(report.histories > 500)
  }

  @Test func `channels that drop are linearizable`() throws {
    for (capacity, overflow) in [
      (ChannelCapacity.droppingOldest(1), ChannelSpecification.Overflow.dropOldest),
      (.droppingNewest(1), .dropNewest),
    ] {
      try checkLinearizability(
        ChannelSpecification(limit: 1, overflow: overflow),
        of: Self.operations,
        options: Self.options
      ) {
        Channel<Int>(capacity: capacity)
      } perform: {
        try $0.perform($1)
      }
    }
  }

  /// A channel that forgets to wake receivers when it is closed, and one that hands values out of order.
  private final class Broken {
    enum Fault { case lostWakeUp, wrongOrder, lossOnCancel }
    let fault: Fault
    let channel: Channel<Int>
    private var stack: [Int] = []

    init(_ fault: Fault) {
      self.fault = fault
      channel = Channel(capacity: 2)
    }

    func perform(
      _ operation: ChannelSpecification.Operation
    ) throws -> ChannelSpecification.Outcome {
      switch (fault, operation) {
      case (.lostWakeUp, .close): return .done
      case (.wrongOrder, .receiveIfReady):
        while let value = channel.receiveIfReady().value { stack.append(value) }
        guard let last = stack.popLast() else { return .empty }
        for value in stack { channel.sendIfReady(value) }
        stack = []
        return .received(last)
      case (.lossOnCancel, .receive):
        let value = try channel.receive()
        // Cancelled here, the value is gone.
        try Coroutine.yield()
        return .received(value)
      default: return try channel.perform(operation)
      }
    }
  }

  @Test func `a lost wake-up, a wrong order and a value lost by cancellation are found`() {
    for (fault, operations) in [
      (Broken.Fault.lostWakeUp, [.receive, .close, .isClosed]),
      (.wrongOrder, [.send(1), .send(2), .receiveIfReady]),
      (.lossOnCancel, [.send(1), .send(2), .receive, .receiveIfReady]),
    ] as [(Broken.Fault, [ChannelSpecification.Operation])] {
      let failure = #expect(throws: ExplorationFailure.self) {
        try checkLinearizability(ChannelSpecification(limit: 2), of: operations) {
          Broken(fault)
        } perform: {
          try $0.perform($1)
        }
      }
      #expect(failure?.error is LinearizabilityViolation)
      #expect("\(failure as Any)".contains("No order of whole operations does this"))
    }
  }

  /// A lock, one operation at a time; workers take it and give it back in turn.
  private struct MutexSpecification: SequentialSpecification {
    enum Operation { case enter }
    var entered = 0

    mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<Int>] {
      entered += 1
      return [Completion(caller, entered)]
    }
  }

  private final class Guarded {
    let mutex = CoroutineMutex()
    var entered = 0

    func enter() throws -> Int {
      try mutex.withLock {
        let before = entered
        try withCancellationShield { try Coroutine.yield() }
        entered = before + 1
        return entered
      }
    }
  }

  @Test func `what a mutex guards happens at once`() throws {
    try checkLinearizability(MutexSpecification(), of: [.enter], options: Self.options) {
      Guarded()
    } perform: { guarded, _ in
      try guarded.enter()
    }
  }

  /// A semaphore with two permits.
  private struct SemaphoreSpecification: SequentialSpecification {
    enum Operation { case acquire, acquireIfReady, release }
    var permits = 2
    var waiting: [Int] = []

    mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<Bool>] {
      switch operation {
      case .acquire where permits == 0 || !waiting.isEmpty:
        waiting.append(caller)
        return []
      case .acquireIfReady where permits == 0 || !waiting.isEmpty:
        return [Completion(caller, false)]
      case .acquire, .acquireIfReady:
        permits -= 1
        return [Completion(caller, true)]
      case .release:
        guard waiting.isEmpty else {
          return [Completion(caller, true), Completion(waiting.removeFirst(), true)]
        }
        permits += 1
        return [Completion(caller, true)]
      }
    }
  }

  @Test func `a semaphore is linearizable`() throws {
    try checkLinearizability(
      SemaphoreSpecification(),
      of: [.acquire, .acquire, .acquireIfReady, .release],
      options: Self.options
    ) {
      CoroutineSemaphore(permits: 2)
    } perform: { semaphore, operation in
      switch operation {
      case .acquire: try semaphore.acquire()
      case .acquireIfReady: return semaphore.acquireIfReady()
      case .release: semaphore.release()
      }
      return true
    }
  }

  /// A promise that is settled once.
  private struct PromiseSpecification: SequentialSpecification {
    enum Operation: Hashable { case await, fulfill(Int), isPending }
    enum Outcome: Hashable { case value(Int), truth(Bool) }
    var value: Int?
    var waiting: [Int] = []

    mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<Outcome>] {
      switch operation {
      case .await:
        if let value { return [Completion(caller, .value(value))] }
        waiting.append(caller)
        return []
      case .fulfill(let new):
        guard value == nil else { return [Completion(caller, .truth(false))] }
        value = new
        defer { waiting = [] }
        return [Completion(caller, .truth(true))] + waiting.map { Completion($0, .value(new)) }
      case .isPending: return [Completion(caller, .truth(value == nil))]
      }
    }
  }

  @Test func `a promise is linearizable`() throws {
    try checkLinearizability(
      PromiseSpecification(),
      of: [.await, .await, .fulfill(1), .fulfill(2), .isPending],
      options: Self.options
    ) {
      Promise<Int>()
    } perform: { promise, operation in
      switch operation {
      case .await: .value(try promise.await())
      case .fulfill(let value): .truth(promise.fulfill(value))
      case .isPending: .truth(promise.isPending)
      }
    }
  }
}

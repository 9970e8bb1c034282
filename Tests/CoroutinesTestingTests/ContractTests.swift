// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

private struct Broken: Error, CustomStringConvertible {
  let description: String
}

private func require(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
  if !isTrue { throw Broken(description: what()) }
}

/// One call, with all that it needs around it.
struct ContractCall: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let make: @Sendable () throws -> Void

  init(_ name: String, _ make: @escaping @Sendable () throws -> Void) {
    testDescription = name
    self.make = make
  }
}

/// Rules of Documentation/Design.md, each by its number, where a scheduler of the test's choosing shows what a real
/// one shows by luck.
@Suite(.timeLimit(.minutes(30))) struct ContractTests {
  // MARK: - Rule 1

  /// Calls that never park, each where it has something to do.
  private static let never: [ContractCall] = [
    ContractCall("launch") { launch {} },
    ContractCall("cancel") { launch {}.cancel() },
    ContractCall("sendIfReady, full and not") {
      let channel = Channel<Int>(capacity: 1)
      channel.sendIfReady(1)
      channel.sendIfReady(2)
    },
    ContractCall("receiveIfReady, empty and not") {
      let channel = Channel<Int>(capacity: 1)
      _ = channel.receiveIfReady()
      channel.sendIfReady(1)
      _ = channel.receiveIfReady()
    },
    ContractCall("close, with somebody in line") {
      let channel = Channel<Int>()
      launch(start: .immediately) { _ = try? channel.receive() }
      channel.close()
    },
    ContractCall("count, isClosed") {
      let channel = Channel<Int>()
      _ = (channel.count, channel.isClosed, channel.isEmpty)
    },
    ContractCall("select with Default") {
      try select {
        Receive(from: Channel<Int>()) { _ in }
        Default {}
      }
    },
    ContractCall("fulfill, with somebody in line") {
      let promise = Promise<Int>()
      launch(start: .immediately) { _ = try promise.await() }
      promise.fulfill(1)
    },
    ContractCall("reject, cancel of a promise") {
      Promise<Int>().reject(CancellationError())
      Promise<Int>().cancel()
    },
    ContractCall("then, catch, recover, finally") {
      _ = Promise.fulfilled(1).then { $0 + 1 }.catch { _ in }.recover { _ in 1 }.finally {}
    },
    ContractCall("lockIfReady and unlock, with somebody in line") {
      let mutex = CoroutineMutex()
      _ = mutex.lockIfReady()
      launch(start: .immediately) { try mutex.withLock {} }
      _ = mutex.lockIfReady()
      mutex.unlock()
    },
    ContractCall("acquireIfReady and release") {
      let semaphore = CoroutineSemaphore(permits: 0)
      _ = semaphore.acquireIfReady()
      semaphore.release()
    },
    ContractCall("done, with somebody in line") {
      let group = CoroutineWaitGroup(count: 1)
      launch(start: .immediately) { try group.wait() }
      group.done()
    },
    ContractCall("leave") { CoroutineBarrier(parties: 2).leave() },
    ContractCall("signal, broadcast") {
      let condition = CoroutineCondition(CoroutineMutex())
      condition.signal()
      condition.broadcast()
    },
    ContractCall("next of a generator whose body does not park") {
      _ = Generator<Int> { yield in try yield(1) }.next()
    },
    ContractCall("checkCancellation, isCancelled, current") {
      try Coroutine.checkCancellation()
      _ = (Coroutine.isCancelled, Coroutine.current)
    },
    ContractCall("withLockIfReady, withReadLockIfReady, withWriteLockIfReady") {
      _ = CoroutineMutex().withLockIfReady {}
      let lock = CoroutineReadWriteLock()
      _ = lock.withReadLockIfReady { lock.withReadLockIfReady {} }
      _ = lock.withWriteLockIfReady {}
    },
  ]

  @Test(arguments: never) func `what never parks runs no other coroutine (rule 1)`(
    call: ContractCall
  ) throws {
    try explore {
      var hasRun = false
      let other = launch { hasRun = true }
      // With `immediately`, `launch` is like a call; it runs up to the first park of what it launched, and no other.
      try call.make()
      try require(!hasRun, "\(call.testDescription) let another coroutine run")
      try other.join()
    }
  }

  @Test(arguments: never) func `what never parks does not notice that it is cancelled (rule 1)`(
    call: ContractCall
  ) throws {
    // Two ask, although they do not park: one has no other purpose, and a select asks with `Default`, too.
    let asks = ["checkCancellation", "select"]
    guard !asks.contains(where: { call.testDescription.hasPrefix($0) }) else { return }
    try TestScheduler().run {
      let coroutine = launch {
        Coroutine.current?.cancel()
        try call.make()
        return true
      }
      let coroutineValue = try coroutine.value()
      #expect(coroutineValue)
    }
  }

  /// Calls that may park, each where it has nothing to wait for.
  private static let always: [ContractCall] = [
    ContractCall("Coroutine.yield") { try Coroutine.yield() },
    ContractCall("Coroutine.sleep(for: .zero)") { try Coroutine.sleep(for: .zero) },
    ContractCall("Coroutine.sleep(until: now)") {
      try Coroutine.sleep(until: CoroutineClock().now)
    },
    ContractCall("join of one that has ended") { try ended.join() },
    ContractCall("value of one that has ended") { try ended.value() },
    ContractCall("send where there is room") { try Channel<Int>(capacity: 1).send(1) },
    ContractCall("send to a channel that drops") {
      try Channel<Int>(capacity: .conflated).send(1)
    },
    ContractCall("receive of what is there") { _ = try full().receive() },
    ContractCall("receive(count: 0)") { _ = try full().receive(count: 0) },
    ContractCall("receive(count:) of what is there") { _ = try full().receive(count: 1) },
    ContractCall("receiveAll of what is there") { _ = try full().receiveAll() },
    ContractCall("select whose clause is ready") {
      try select {
        Receive(from: full()) { _ in }
        After(.seconds(1)) {}
      }
    },
    ContractCall("await of a promise that is settled") {
      _ = try Promise.fulfilled(1).await()
    },
    ContractCall("settled of a promise that is settled") {
      _ = try Promise.fulfilled(1).settled()
    },
    ContractCall("lock of a free mutex") { try CoroutineMutex().lock() },
    ContractCall("withLock of a free mutex") { try CoroutineMutex().withLock {} },
    ContractCall("withReadLock") { try CoroutineReadWriteLock().withReadLock {} },
    ContractCall("withWriteLock") { try CoroutineReadWriteLock().withWriteLock {} },
    ContractCall("acquire of a permit that is there") {
      try CoroutineSemaphore(permits: 1).acquire()
    },
    ContractCall("wait for a group at zero") { try CoroutineWaitGroup().wait() },
    ContractCall("wait at a barrier for one") { _ = try CoroutineBarrier(parties: 1).wait() },
    ContractCall("value of a once") { _ = try CoroutineOnce<Int>().value { 1 } },
  ]

  private static let ended: ValueCoroutine<Void> = {
    let coroutine = launch(on: SerialScheduler()) {}
    try? runBlocking { try coroutine.join() }
    return coroutine
  }()

  private static func full() -> Channel<Int> {
    let channel = Channel<Int>(capacity: 1)
    channel.sendIfReady(1)
    return channel
  }

  @Test(arguments: always) func `a park point is one even with nothing to wait for (rules 1 and 2)`(
    call: ContractCall
  ) throws {
    _ = Self.ended
    try TestScheduler().run {
      let free = launch {
        try call.make()
        return true
      }
      let freeValue = try free.value()
      #expect(freeValue)
      let cancelled = launch {
        Coroutine.current?.cancel()
        try call.make()
      }
      #expect(throws: CancellationError.self) { try cancelled.value() }
      let shielded = launch {
        Coroutine.current?.cancel()
        try withCancellationShield { try call.make() }
        return true
      }
      let shieldedValue = try shielded.value()
      #expect(shieldedValue)
    }
  }

  // MARK: - Rule 7

  /// Touches what it was made for when it goes.
  private final class Bomb: @unchecked Sendable {
    // SAFETY: stays on the test's thread.
    let action: () -> Void
    init(_ action: @escaping () -> Void) { self.action = action }
    deinit { action() }
  }

  @Test func `the end of a value that a channel drops may use that channel (rule 7)`() throws {
    try TestScheduler().run {
      for capacity in [ChannelCapacity.droppingOldest(1), .droppingNewest(1)] {
        let channel = Channel<Bomb?>(capacity: capacity)
        var counts: [Int] = []
        for _ in 0..<3 {
          try channel.send(
            Bomb {
              counts.append(channel.count)
              channel.close()
              channel.sendIfReady(nil)
            }
          )
          if channel.isClosed { break }
        }
        #expect(counts == [1])
        _ = channel.receiveIfReady()
      }
    }
  }

  @Test func `a select's action may use all its channels (rule 7)`() throws {
    try explore {
      let (left, right) = (Channel<Int>(), Channel<Int>(capacity: 1))
      right.sendIfReady(1)
      let other = launch { try left.receive() }
      try select {
        Receive(from: right) { value in
          try left.send(value)
          try right.send(value)
          right.close()
        }
      }
      try require(try other.value() == 1, "another value")
      try require(right.count == 1 && right.isClosed, "the action was undone")
    }
  }

  @Test func `hooks of a cancelled promise may settle, await and cancel (rule 7)`() throws {
    try explore {
      let (first, second) = (Promise<Int>(), Promise<Int>())
      first.onCancel { promise in
        promise.fulfill(1)
        promise.cancel()
        second.cancel()
      }
      second.onCancel { _ in first.cancel() }
      let awaiter = launch { try first.await() }
      let canceller = launch { second.cancel() }
      first.cancel()
      try canceller.join()
      do {
        _ = try awaiter.value()
        throw Broken(description: "the promise was fulfilled")
      } catch PromiseError.cancelled {}
      try require(second.isRejected, "the second one is pending")
    }
  }

  @Test func `what a semaphore's waiter was given ends outside its lock (rule 7)`() throws {
    try TestScheduler().run {
      let semaphore = CoroutineSemaphore(permits: 0)
      let waiter = launch { try semaphore.acquire() }
      try Coroutine.yield()
      waiter.onFinish { semaphore.release() }
      semaphore.release()
      try waiter.join()
      #expect(semaphore.available == 1)
    }
  }

  // MARK: - Rules 10 to 12

  @Test func `a generator belongs to one at a time; another is refused, in all orders (rule 12)`()
    throws
  {
    var refusals = 0
    let exploration = try explore {
      let numbers = TwoWayGenerator<Int, Void, Void> { yield in
        for number in 1...3 {
          // The body parks whoever asked: meanwhile others may ask.
          try Coroutine.yield()
          _ = try yield(number)
        }
      }
      var seen: [Int] = []
      let users = (0..<2).map { _ in
        launch {
          for _ in 0..<2 {
            do {
              if case .yielded(let number) = try numbers.next(()) { seen.append(number) }
            } catch GeneratorError.alreadyRunning {
              refusals += 1
              try Coroutine.yield()
            }
          }
        }
      }
      for user in users { try user.join() }
      // Undisturbed: no number is lost or comes twice.
      try require(seen == Array(1...3).prefix(seen.count).map { $0 }, "\(seen)")
      try require(!seen.isEmpty, "nobody got a number")
    }
    #expect(exploration.isComplete)
    #expect(refusals > 0)
  }

  @Test func `a generator that a second coroutine asks stops the program (rule 12)`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try TestScheduler().run {
        let numbers = Generator<Int> { yield in
          try Coroutine.yield()
          try yield(1)
        }
        launch { _ = numbers.next() }
        launch { _ = numbers.next() }
      }
    }
    let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(text.contains("or by another coroutine while its body runs"))
  }

  @Test func `a generator's body is where its calls have brought it, in all orders (rule 10)`()
    throws
  {
    let exploration = try explore {
      var progress = 0
      let numbers = Generator<Int> { yield in
        for number in 1...4 {
          progress = number
          try yield(number)
        }
      }
      var asked = 0
      let users = (0..<2).map { _ in
        launch {
          for _ in 0..<2 {
            asked += 1
            try require(numbers.next() == asked, "another number")
            try require(progress == asked, "the body has run to \(progress), asked \(asked) times")
            try Coroutine.yield()
          }
        }
      }
      for user in users { try user.join() }
    }
    #expect(exploration.isComplete)
  }

  @Test func `an actor finishes a message before it takes the next, in all orders (rule 11)`()
    throws
  {
    enum Message: Sendable { case add(Int), total(Reply<Int>) }
    try explore(.exhaustive(delays: 3), runs: 2000) {
      let actor = MessageActor<Message> { mailbox in
        var (total, isBusy) = (0, false)
        for message in mailbox {
          try require(!isBusy, "two messages at once")
          isBusy = true
          try Coroutine.yield()
          switch message {
          case .add(let number): total += number
          case .total(let reply): reply(total)
          }
          isBusy = false
        }
      }
      let senders = (0..<2).map { sender in
        launch { for number in 1...2 { try actor.tell(.add(number * (sender + 1))) } }
      }
      for sender in senders { try sender.join() }
      let total = try actor.ask { .total($0) }.await()
      try require(total == 9, "a total of \(total)")
      actor.stop()
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

@Suite(.timeLimit(.minutes(30))) struct MessageActorTests {
  @Test(arguments: Place.allCases)
  func `messages are handled in the order of sending (rule 11)`(place: Place) throws {
    try place.run {
      let actor = MessageActor<Counting>(name: "counter", count)
      for _ in 0..<6 { try actor.tell(.add(1)) }
      try actor.tell(.add(-1))
      try #expect(actor.ask { .total($0) }.await() == 5)
      try #expect(actor.ask { .name($0) }.await() == "counter")
      try actor.ask { .nothing($0) }.await()
      try actor.stopAndJoin()
      #expect(actor.isStopped)
      #expect(actor.error == nil)
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `it works on any scheduler, and before it has begun`(place: Elsewhere) throws {
    try runBlocking {
      for scheduler in place.schedulers(2) {
        let actor = MessageActor<Counting>(on: scheduler, count)
        try actor.tell(.add(2))
        let answer = actor.ask { .total($0) }
        try actor.tell(.add(3))
        try #expect(answer.await() == 2)
        try #expect(actor.ask { .total($0) }.await() == 5)
      }
      let queue = DispatchQueue(label: "actor")
      let actor = MessageActor<Counting>(on: queue, count)
      try actor.tell(.add(4))
      try #expect(actor.ask { .total($0) }.await() == 4)
    }
  }

  @Test func `right after an ask there is no answer yet`() throws {
    try runBlocking {
      let actor = MessageActor<Counting>(count)
      try actor.tell(.add(1))
      let answer = actor.ask { .total($0) }
      #expect(answer.value == nil)
      #expect(actor.count == 2)
      try #expect(answer.await() == 1)
    }
  }

  @Test func `it finishes a message before it takes the next (rule 11)`() throws {
    try runBlocking {
      let actor = MessageActor<Counting>(count)
      let gate = Gate()
      let slow = actor.ask { .wait(gate, $0) }
      try actor.tell(.add(1))
      let fast = actor.ask { .total($0) }
      try letOthersRun()
      #expect(slow.isPending)
      #expect(fast.isPending, "a handler that waits delays the next message")
      gate.open()
      try #expect(slow.await() == 0)
      try #expect(fast.await() == 1)
    }
  }

  @Test func `a child launched for a message overlaps with the next`() throws {
    let (total, wasPending, late) = try runBlocking {
      let gate = Gate()
      let actor = MessageActor<Counting> { mailbox in
        var total = 0
        for message in mailbox {
          switch message {
          case .wait(let gate, let reply):
            launch {
              try gate.wait()
              reply(total)
            }
          case .add(let number): total += number
          case .total(let reply): reply(total)
          default: break
          }
        }
      }
      let slow = actor.ask { .wait(gate, $0) }
      try actor.tell(.add(7))
      let total = try actor.ask { .total($0) }.await()
      let wasPending = slow.isPending
      gate.open()
      let late = try slow.await()
      return (total, wasPending, late)
    }
    #expect(total == 7)
    #expect(wasPending)
    #expect(late == 7)
  }

  @Test func `another coroutine cannot take its messages (rule 11)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try blocking {
        let actor = MessageActor<Int>(name: "private") { mailbox in
          let thief = launch { mailbox.next() }
          try thief.join()
        }
        try actor.join()
      }
    }
    #expect(result.text.contains("The actor \"private\""))
    #expect(result.text.contains("launch a coroutine for each"))
  }

  @Test func `dropping the last handle ends it after what it has`() throws {
    let census = Census()
    try runBlocking {
      let handled = Steps<Int>()
      var actor: MessageActor<Counted>? = MessageActor { mailbox in
        for message in mailbox { handled.add(message.number) }
        handled.add(-1)
      }
      for number in 0..<3 { try actor?.tell(Counted(number, census)) }
      let events = try #require(actor?.events())
      actor = nil
      for event in events {
        if case .stopped = event { #expect(handled.entries == [0, 1, 2, -1]) }
      }
      #expect(handled.entries == [0, 1, 2, -1])
    }
    #expect(census.alive == 0)
  }

  @Test func `stop lets it handle what it has, and takes no more`() throws {
    try runBlocking {
      let actor = MessageActor<Counting>(name: "stopping", count)
      try actor.tell(.add(1))
      let answer = actor.ask { .total($0) }
      actor.stop()
      do {
        try actor.tell(.add(1))
        Issue.record("it was taken")
      } catch MessageActorError.stopped {}
      #expect(actor.ask { .total($0) }.error as? MessageActorError == .stopped)
      #expect(actor.askIfReady { .total($0) }.error as? MessageActorError == .stopped)
      if case .closed(.add(9)) = actor.tellIfReady(.add(9)) {
      } else {
        Issue.record("not given back")
      }
      try #expect(answer.await() == 1)
      try actor.join()
    }
  }

  @Test func `a stop while it waits ends it`() throws {
    try runBlocking {
      let actor = MessageActor<Counting>(count)
      try letOthersRun()
      try actor.stopAndJoin()
      #expect(actor.isStopped)
    }
  }

  @Test func `cancelling rejects the current ask and those in line`() throws {
    try runBlocking {
      let actor = MessageActor<Counting>(name: "slow", count)
      let current = actor.ask { .wait(Gate(), $0) }
      try actor.tell(.add(1))
      let queued = (0..<3).map { _ in actor.ask { .total($0) } }
      try letOthersRun()
      try actor.cancelAndJoin()
      for promise in [current] + queued {
        #expect(throws: MessageActorError.stopped) { try promise.await() }
      }
      #expect(actor.error == nil)
      #expect("\(current.error as Any)".contains("The actor \"slow\" has stopped."))
    }
  }

  @Test func `cancelling one that has not begun rejects its asks`() throws {
    try runBlocking {
      let actor = MessageActor<Counting> { _ in Issue.record("the body ran") }
      let answer = actor.ask { .total($0) }
      actor.cancel()
      #expect(throws: MessageActorError.stopped) { try answer.await() }
      try actor.join()
    }
  }

  @Test func `it is cancelled with its parent (rule 8)`() throws {
    try runBlocking {
      let handle = Cell<MessageActor<Counting>>()
      let parent = launch {
        handle.value = MessageActor<Counting>(count)
        try waitForEver()
      }
      try letOthersRun()
      let actor = try #require(handle.value)
      let answer = actor.ask { .wait(Gate(), $0) }
      try letOthersRun()
      try parent.cancelAndJoin()
      #expect(throws: MessageActorError.stopped) { try answer.await() }
      try actor.join()
    }
  }

  @Test func `a body that throws fails its ask with that error, the others with its name`() throws {
    try runBlocking {
      let actor = MessageActor<Counting>(name: "weak", count)
      let current = actor.ask { .fail(3, $0) }
      let queued = actor.ask { .total($0) }
      try actor.join()
      #expect(actor.error as? Failure == Failure(3))
      #expect(throws: Failure(3)) { try current.await() }
      do {
        _ = try queued.await()
        Issue.record("it was answered")
      } catch let error as MessageActorError {
        #expect(error == .stopped)
        #expect(error.cause as? Failure == Failure(3))
        #expect(error.description.contains("The actor \"weak\""))
        #expect(error.description.contains("Failure"))
      }
      #expect(throws: MessageActorError.stopped) { try actor.tell(.add(1)) }
    }
  }

  @Test func `an error that nobody looks at is thrown by runBlocking (rule 6)`() {
    #expect(throws: Failure(4)) {
      try runBlocking {
        let actor = MessageActor<Counting>(count)
        let answer = actor.ask { .fail(4, $0) }
        _ = try answer.settled()
      }
    }
  }

  @Test func `a body that returns early rejects what is left`() throws {
    try runBlocking {
      let actor = MessageActor<Counting> { mailbox in _ = mailbox.next() }
      let first = actor.ask { .total($0) }
      let second = actor.ask { .total($0) }
      #expect(throws: PromiseError.abandoned) { try first.await() }
      #expect(throws: MessageActorError.stopped) { try second.await() }
      try actor.join()
    }
  }

  @Test func `one whose scheduler has shut down rejects what it is asked (rule 12)`() throws {
    let scheduler = try runBlocking { Scheduler.current }
    let actor = MessageActor<Counting>(on: scheduler, count)
    #expect(actor.isStopped)
    let answer = actor.ask { .total($0) }
    let error = answer.error as? MessageActorError
    #expect(error == .stopped)
    #expect(error?.cause as? CoroutineError == .schedulerShutDown)
    #expect(actor.error as? CoroutineError == .schedulerShutDown)
  }

  @Test func `joining itself is an error; a cancelled join leaves it alone (rule 12)`() throws {
    try runBlocking {
      let handle = Cell<MessageActor<Int>>()
      let actor = MessageActor<Int> { _ in
        #expect(throws: CoroutineError.joinsItself) { try handle.value?.join() }
        handle.value = nil
        try waitForEver()
      }
      handle.value = actor
      let joiner = launch { try actor.join() }
      try letOthersRun()
      try joiner.cancelAndJoin()
      #expect(!actor.isStopped)
      try actor.cancelAndJoin()
    }
  }

  @Test func `its life can be watched`() throws {
    try runBlocking {
      let actor = MessageActor<Counting>(name: "watched", count)
      let events = actor.events()
      let seen = SharedLog<String>()
      actor.onEvent { seen.add("\($0)") }
      let answer = actor.ask { .fail(1, $0) }
      #expect(throws: Failure(1)) { try answer.await() }
      try actor.join()
      let steps = ["started", "failed(\(String(reflecting: Failure(1))))", "stopped"]
      #expect(events.map { "\($0)" } == steps)
      #expect(seen.entries == steps)
      #expect(actor.events().map { "\($0)" } == ["stopped"], "who comes late learns the latest")
    }
  }

  @Test func `tasks tell and ask`() async throws {
    let actor = MessageActor<Counting>(on: SerialScheduler(), capacity: 1, count)
    for _ in 0..<20 { try await actor.tell(.add(1)) }
    try await #expect(actor.ask { .total($0) }.value() == 20)
    try await actor.stopAndJoin()
    await #expect(throws: MessageActorError.stopped) { try await actor.tell(.add(1)) }
    await #expect(throws: MessageActorError.stopped) {
      try await actor.ask { .total($0) }.value()
    }
  }

  @Test func `a plain thread tells and asks`() throws {
    let actor = MessageActor<Counting>(on: SerialScheduler(), count)
    let answer = onPlainThread {
      #expect(throws: Never.self) { try actor.tell(.add(5)) }
      return actor.ask { .total($0) }
    }
    try runBlocking { try #expect(answer.await() == 5) }
  }

  @Test(arguments: Elsewhere.allCases)
  func `every ask of many threads is settled, whenever it is cancelled (rule 9)`(
    place: Elsewhere
  ) throws {
    let census = Census()
    let (answered, rejected) = (Tally(), Tally())
    try runBlocking {
      let schedulers = place.schedulers(4)
      for round in 0..<60 {
        let actor = MessageActor<(Counted, Reply<Int>)>(
          on: schedulers[round % 4],
          capacity: round % 3 == 0 ? 2 : .unbounded
        ) { mailbox in
          for (number, (_, reply)) in mailbox.enumerated() {
            if number % 5 == 4 { try Coroutine.yield() }
            if number == 30, round % 4 == 1 { throw Failure(1) }
            if number % 7 != 6 { reply(number) }
          }
        }
        let askers = (0..<4).map { index in
          launch(on: schedulers[index]) {
            for _ in 0..<10 {
              let answer = actor.ask { (Counted(index, census), $0) }
              if case .success = try answer.settled() { answered.add() } else { rejected.add() }
            }
          }
        }
        if round % 2 == 0 { try Coroutine.yield() }
        if round % 4 == 0 { actor.cancel() }
        for asker in askers { try asker.value() }
        try actor.stopAndJoin()
      }
    }
    #expect(answered.value + rejected.value == 60 * 40)
    #expect(answered.value > 0)
    #expect(rejected.value > 0)
    #expect(census.alive == 0)
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct MailboxTests {
  /// Asks an actor that is held up, so that its mailbox fills.
  private func withBusyActor(
    _ capacity: MailboxCapacity,
    _ body: (MessageActor<Counting>, Gate) throws -> Void
  ) throws {
    try runBlocking {
      let actor = MessageActor<Counting>(name: "busy", capacity: capacity, count)
      let gate = Gate()
      let held = launch { try actor.ask { .wait(gate, $0) }.await() }
      try letOthersRun()
      try body(actor, gate)
      gate.open()
      try held.join()
      try actor.stopAndJoin()
    }
  }

  @Test func `senders to a full bounded mailbox wait in line (rule 4)`() throws {
    try withBusyActor(2) { actor, gate in
      try actor.tell(.add(1))
      try actor.tell(.add(2))
      let third = launch { try actor.tell(.add(3)) }
      let asker = launch { try actor.ask { .total($0) }.await() }
      try letOthersRun()
      #expect(third.state == .suspended)
      #expect(asker.state == .suspended)
      #expect(actor.askIfReady { .total($0) }.error as? MessageActorError == .mailboxFull)
      if case .full(.add(4)) = actor.tellIfReady(.add(4)) {} else { Issue.record("not given back") }
      gate.open()
      try #expect(asker.value() == 6)
    }
  }

  @Test func `a cancelled tell takes its message back (rule 3)`() throws {
    try withBusyActor(1) { actor, gate in
      try actor.tell(.add(1))
      let tell = launch { try actor.tell(.add(10)) }
      let ask = launch { actor.ask { .total($0) } }
      try letOthersRun()
      try tell.cancelAndJoin()
      #expect(tell.error is CancellationError)
      ask.cancel()
      try #expect(ask.value().error is CancellationError)
      gate.open()
      try #expect(actor.ask { .total($0) }.await() == 1)
    }
  }

  @Test func `senders that wait learn that the actor has stopped (rule 5)`() throws {
    try withBusyActor(1) { actor, _ in
      try actor.tell(.add(1))
      let tell = launch { try actor.tell(.add(10)) }
      let ask = launch { actor.ask { .total($0) } }
      try letOthersRun()
      actor.cancel()
      #expect(throws: MessageActorError.stopped) { try tell.value() }
      try #expect(ask.value().error as? MessageActorError == .stopped)
    }
  }

  @Test func `a bounded mailbox is a cancellation point; an unbounded one is not (rule 2)`() throws
  {
    try runBlocking {
      let bounded = MessageActor<Counting>(capacity: 5, count)
      let unbounded = MessageActor<Counting>(count)
      try launch {
        Coroutine.current?.cancel()
        #expect(throws: CancellationError.self) { try bounded.tell(.add(1)) }
        try unbounded.tell(.add(1))
      }.value()
      try #expect(unbounded.ask { .total($0) }.await() == 1)
      #expect(bounded.count == 0)
      onPlainThread {
        #expect(throws: CoroutineError.outsideCoroutine) { try bounded.tell(.add(1)) }
        #expect(bounded.ask { .total($0) }.error as? CoroutineError == .outsideCoroutine)
        #expect(bounded.tellIfReady(.add(2)).isSent)
      }
      try #expect(bounded.ask { .total($0) }.await() == 2)
    }
  }

  @Test func `a failing mailbox refuses what does not fit, naming the actor`() throws {
    try withBusyActor(.failing(1)) { actor, gate in
      try actor.tell(.add(1))
      do {
        try actor.tell(.add(2))
        Issue.record("it fitted")
      } catch let error as MessageActorError {
        #expect(error == .mailboxFull)
        #expect(error.description.contains("The actor \"busy\" has a full mailbox of 1 messages"))
      }
      #expect(actor.ask { .total($0) }.error as? MessageActorError == .mailboxFull)
      gate.open()
      try letOthersRun()
      try #expect(actor.ask { .total($0) }.await() == 1)
    }
  }

  @Test func `one that drops the oldest leaves no ask hanging (rule 9)`() throws {
    try withBusyActor(.droppingOldest(2)) { actor, gate in
      let dropped = actor.ask { .total($0) }
      try actor.tell(.add(1))
      try actor.tell(.add(2))
      #expect(throws: PromiseError.abandoned) { try dropped.await() }
      gate.open()
      try letOthersRun()
      try #expect(actor.ask { .total($0) }.await() == 3)
    }
  }

  @Test func `one that drops the newest drops tells silently, and rejects asks`() throws {
    try withBusyActor(.droppingNewest(1)) { actor, gate in
      try actor.tell(.add(1))
      try actor.tell(.add(10))
      #expect(actor.ask { .total($0) }.error as? MessageActorError == .mailboxFull)
      gate.open()
      try letOthersRun()
      try #expect(actor.ask { .total($0) }.await() == 1)
    }
  }

  @Test func `a body takes messages with a timeout, or if there is one`() throws {
    try runBlocking {
      let log = Steps<String>()
      let actor = MessageActor<Int> { mailbox in
        #expect(mailbox.receiveIfReady() == nil)
        do {
          try withTimeout(.milliseconds(1)) { _ = try mailbox.receive() }
        } catch is TimeoutError { log.add("idle") }
        log.add("\(try mailbox.receive())")
        #expect(mailbox.count == 1)
        log.add("\(mailbox.receiveIfReady() ?? 0)")
        do {
          _ = try mailbox.receive()
        } catch ChannelError.closed { log.add("closed") }
      }
      while log.entries.isEmpty { try Coroutine.yield() }
      try actor.tell(1)
      try actor.tell(2)
      try actor.stopAndJoin()
      #expect(log.entries == ["idle", "1", "2", "closed"])
    }
  }

  @Test func `an actor tells itself without a handle`() throws {
    try runBlocking {
      let actor = MessageActor<Int> { mailbox in
        for number in mailbox where number > 0 {
          launch { mailbox.tellIfReady(number - 1) }
          if number == 1 { break }
        }
      }
      try actor.tell(5)
      try actor.join()
      #expect(actor.isStopped)
    }
  }

  @Test func `an impossible capacity stops with a message (rule 12)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = MailboxCapacity.failing(0)
    }
    #expect(result.text.contains("it must keep 1 or more"))
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Synchronization
import Testing

/// Whatever the type of a message is, none is lost and none is released twice.
///
/// They are moved, not copied, all the way into the handler. The compiler makes code of its own for each type, so this is worth most in optimised builds.
@Suite(.timeLimit(.minutes(30))) struct MessageShapesTests {
  /// Counts those that live.
  final class Probe: Sendable {
    static let live = Atomic<Int>(0)
    init() { Self.live.add(1, ordering: .relaxed) }
    deinit { Self.live.subtract(1, ordering: .relaxed) }
  }

  protocol Shaped: Sendable {}
  struct One: Shaped { let probe = Probe() }
  struct Five: Shaped {
    let probes = (Probe(), Probe(), Probe(), Probe(), Probe())
    let number = 5
  }
  enum Several {
    case none
    case one(Probe)
    case two(Probe, Int, Probe)
    indirect case nested(Several)
  }
  enum Mixed {
    case number(Int)
    case probe(Probe)
    case ask(Probe, Reply<Int>)
    case askForProbe(Reply<Probe>)
  }

  /// Sends messages in all ways, to mailboxes that take, keep, refuse and drop them.
  @inline(__always)
  private func send<Message>(_ make: @Sendable () -> Message) throws {
    let before = Probe.live.load(ordering: .relaxed)
    let capacities: [MailboxCapacity] = [
      .unbounded, .bounded(1), .failing(1), .droppingOldest(1), .droppingNewest(1),
    ]
    for capacity in capacities {
      try runBlocking {
        let handled = Tally()
        let actor = MessageActor<Message>(capacity: capacity) { mailbox in
          for message in mailbox {
            _ = message
            handled.add()
            try Coroutine.yield()
          }
        }
        for _ in 0..<4 {
          // Refused by one that is full.
          try? actor.tell(make())
          actor.tellIfReady(make())
        }
        try actor.stopAndJoin()
        #expect(handled.value > 0)
        #expect(throws: MessageActorError.self) { try actor.tell(make()) }
        if case .closed(let message) = actor.tellIfReady(make()) {
          _ = message
        } else {
          Issue.record("a stopped actor took a message")
        }
      }
    }
    #expect(Probe.live.load(ordering: .relaxed) == before)
  }

  @Test func `messages of all shapes are released once`() async throws {
    await #expect(processExitsWith: .success) {
      let tests = MessageShapesTests()
      try tests.send { Probe() }
      try tests.send { Probe() as Probe? }
      try tests.send { (Probe(), 1, Probe()) }
      try tests.send { [Probe(), Probe()] }
      try tests.send { Five() }
      try tests.send { One() as any Shaped }
      try tests.send { Five() as any Shaped }
      try tests.send { Several.one(Probe()) }
      try tests.send { Several.two(Probe(), 2, Probe()) }
      try tests.send { Several.nested(.two(Probe(), 2, Probe())) }
      try tests.send { Several.none }
      try tests.send {
        let probe = Probe()
        return { @Sendable in probe }
      }
      try tests.send { "a text that is longer than what fits into the string itself" }
      try tests.send { 1 }
      try tests.send { () }
    }
  }

  @Test func `asks of all shapes are released once, answered, refused and dropped`() async throws {
    await #expect(processExitsWith: .success) {
      try MessageShapesTests().ask()
    }
  }

  private func ask() throws {
    try runBlocking {
      let actor = MessageActor<Mixed>(capacity: .failing(2)) { mailbox in
        for message in mailbox {
          switch message {
          case .number, .probe: break
          case .ask(let probe, let reply): withExtendedLifetime(probe) { _ = reply(1) }
          case .askForProbe(let reply): reply(Probe())
          }
        }
      }
      for round in 0..<10 {
        // Full, whether or not it waits for the first of them.
        try actor.tell(.probe(Probe()))
        try actor.tell(.number(round))
        if round > 0 { try actor.tell(.probe(Probe())) }
        let refused: Promise<Int> = actor.ask { .ask(Probe(), $0) }
        #expect(refused.error is MessageActorError)
        let notReady: Promise<Int> = actor.askIfReady { .ask(Probe(), $0) }
        #expect(notReady.error is MessageActorError)
        try letOthersRun()
        try #expect(actor.ask { .ask(Probe(), $0) }.await() == 1)
        _ = try actor.ask { .askForProbe($0) }.await()
        let unread: Promise<Probe> = actor.ask { .askForProbe($0) }
        _ = unread
        try letOthersRun()
      }
      try actor.stopAndJoin()
      let late: Promise<Int> = actor.ask { .ask(Probe(), $0) }
      #expect(late.error is MessageActorError)
    }
    #expect(Probe.live.load(ordering: .relaxed) == 0)
  }
}

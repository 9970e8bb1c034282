// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct SupervisedActorTests {
  @Test(arguments: Elsewhere.allCases)
  func `its mailbox outlives a restart, and its handle stays good (rule 14)`(place: Elsewhere)
    throws
  {
    let scheduler = place.schedulers(1)[0]
    try runBlocking {
      try withSupervisor { supervisor in
        let actor = supervisor.actor(of: Counting.self, on: scheduler, name: "counter", count)
        let events = actor.events()
        try actor.tell(.add(5))
        let current = actor.ask { .fail(1, $0) }
        try actor.tell(.add(2))
        let queued = actor.ask { .total($0) }
        let error = try current.settled()
        let total = try queued.await()
        if case .failure(let error) = error { #expect(error as? Failure == Failure(1)) }
        #expect(total == 2, "its state is new, its messages are the old ones")
        let again = try actor.ask { .total($0) }.await()
        #expect(again == 2)
        try actor.stopAndJoin()
        #expect(actor.error == nil)
        let steps = events.map { "\($0)".prefix(6) }
        #expect(steps.suffix(3) == ["failed", "restar", "stoppe"])
        #expect(throws: MessageActorError.stopped) { try actor.tell(.add(1)) }
        try supervisor.waitForChildren()
      }
    }
  }

  @Test
  func `restarted for another's sake, it rejects the ask in hand and keeps the others (rule 14)`()
    throws
  {
    try runBlocking {
      try withSupervisor(strategy: .allForOne) { supervisor in
        let actor = supervisor.actor(of: Counting.self, name: "counter", count)
        let fail = Channel<Int>()
        supervisor.launch(name: "weak") { throw Failure(try fail.receive()) }
        let current = actor.ask { .wait(Gate(), $0) }
        try actor.tell(.add(3))
        let queued = actor.ask { .total($0) }
        try letOthersRun()
        try fail.send(1)
        #expect(throws: MessageActorError.restarted) { try current.await() }
        let total = try queued.await()
        #expect(total == 3)
      }
    }
  }

  @Test func `when the supervisor stops, asks are rejected`() throws {
    try runBlocking {
      let handle = Cell<MessageActor<Counting>>()
      let promises = Cell<[Promise<Int>]>()
      try withSupervisor { supervisor in
        let actor = supervisor.actor(of: Counting.self, name: "counter", count)
        handle.value = actor
        promises.value = [actor.ask { .wait(Gate(), $0) }, actor.ask { .total($0) }]
        try letOthersRun()
      }
      for promise in promises.value ?? [] {
        #expect(promise.error as? MessageActorError == .stopped)
      }
      #expect(handle.value?.isStopped == true)
    }
  }

  @Test func `when the supervisor gives up, asks learn why`() throws {
    try runBlocking {
      let promise = Cell<Promise<Int>>()
      #expect(throws: SupervisorError.tooManyRestarts) {
        try withSupervisor(intensity: RestartIntensity(0, within: .seconds(1))) { supervisor in
          let actor = supervisor.actor(of: Counting.self, name: "weak", count)
          let failing = actor.ask { .fail(1, $0) }
          promise.value = actor.ask { .total($0) }
          _ = try failing.settled()
          try waitForEver()
        }
      }
      let error = promise.value?.error as? MessageActorError
      #expect(error == .stopped)
      #expect(error?.cause as? SupervisorError == .tooManyRestarts)
    }
  }

  @Test func `cancelled or stopped by hand it is not restarted`() throws {
    try runBlocking {
      try withSupervisor { supervisor in
        let cancelled = supervisor.actor(of: Counting.self, name: "cancelled", count)
        let stopped = supervisor.actor(of: Counting.self, name: "stopped", count)
        let early = supervisor.actor(of: Counting.self, name: "early", count)
        early.cancel()
        try stopped.tell(.add(1))
        let answer = stopped.ask { .total($0) }
        stopped.stop()
        try letOthersRun()
        cancelled.cancel()
        try supervisor.waitForChildren()
        let total = try answer.await()
        #expect(total == 1)
        #expect(early.isStopped && stopped.isStopped && cancelled.isStopped)
      }
    }
  }

  @Test func `the supervisor keeps an actor whose handle was dropped`() throws {
    try runBlocking {
      let ran = Steps<Int>()
      try withSupervisor { supervisor in
        do {
          let actor = supervisor.actor(of: Int.self, name: "kept") { mailbox in
            for number in mailbox { ran.add(number) }
          }
          try actor.tell(1)
        }
        try letOthersRun()
        #expect(ran.entries == [1])
        #expect(supervisor.childCount == 1)
      }
    }
  }
}

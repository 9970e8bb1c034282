// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct SupervisionTreeTests {
  @Test func `a branch that gives up is restarted by the one above, with its children`() throws {
    let log = SharedLog<String>()
    try runBlocking {
      try withSupervisor(name: "root") { root in
        root.note(in: log)
        let branch = root.supervisor(
          name: "branch",
          intensity: RestartIntensity(0, within: .seconds(1))
        )
        branch.note(in: log)
        let actor = branch.actor(of: Counting.self, name: "counter", count)
        branch.launch(name: "temporary", restart: .temporary) { try waitForEver() }
        try yield { log.entries.contains("started temporary") }
        let failing = actor.ask { .fail(1, $0) }
        try actor.tell(.add(4))
        _ = try failing.settled()
        let total = try actor.ask { .total($0) }.await()
        #expect(total == 4, "the handle and the mailbox stay good")
        #expect(branch.childCount == 1)
      }
    }
    #expect(
      log.entries == [
        "started branch", "started counter", "started temporary",
        "failed counter", "stopped temporary",
        "failed branch", "restarting branch", "restarted branch", "restarted counter",
        "stopped counter", "ended", "stopped branch", "ended",
      ]
    )
  }

  @Test func `an error climbs up the tree and tells each step`() throws {
    try runBlocking {
      do {
        try withSupervisor(name: "root", decide: { _ in .escalate }) { root in
          let branch = root.supervisor(name: "branch", decide: { _ in .escalate })
          branch.launch(name: "leaf") { throw Failure(9) }
          try waitForEver()
        }
        Issue.record("it went on")
      } catch let error as SupervisorError {
        #expect(error.child == "branch")
        let cause = error.cause as? SupervisorError
        #expect(cause?.child == "leaf")
        #expect(cause?.cause as? Failure == Failure(9))
        #expect(error.description.contains("\"leaf\""))
      }
    }
  }

  @Test func `a tree stops from its last leaf to its first`() throws {
    let log = SharedLog<String>()
    func leaf(_ name: String) -> () throws -> Void {
      {
        log.add("\(name) begins")
        defer { log.add("\(name) ends") }
        try waitForEver()
      }
    }
    try runBlocking {
      try withSupervisor { root in
        root.launch(name: "1", leaf("1"))
        let branch = root.supervisor(name: "branch")
        branch.launch(name: "2", leaf("2"))
        branch.launch(name: "3", leaf("3"))
        root.launch(name: "4", leaf("4"))
        try yield { log.entries.count == 4 }
      }
    }
    #expect(Array(log.entries[4...]) == ["4 ends", "3 ends", "2 ends", "1 ends"])
  }

  @Test func `a branch that is stopped by hand is not restarted`() throws {
    try runBlocking {
      try withSupervisor { root in
        let branch = root.supervisor(name: "branch")
        let actor = branch.actor(of: Counting.self, name: "counter", count)
        try letOthersRun()
        try branch.stopAndJoin()
        #expect(actor.isStopped)
        try root.waitForChildren()
        #expect(root.childCount == 0)
      }
    }
  }

  @Test(arguments: Elsewhere.allCases, [SupervisionStrategy.oneForOne, .allForOne, .restForOne])
  func `a storm of failures on many threads settles every ask and stops in the end (rule 9)`(
    place: Elsewhere,
    strategy: SupervisionStrategy
  ) throws {
    let (answered, rejected) = (Tally(), Tally())
    try runBlocking {
      let schedulers = place.schedulers(3)
      try withSupervisor(
        strategy: strategy,
        intensity: RestartIntensity(100_000, within: .seconds(60)),
        backoff: .exponential(from: .zero, to: .microseconds(50), jitter: 1, seed: 1)
      ) { supervisor in
        let actors = (0..<3).map { index in
          supervisor.actor(
            of: Counting.self,
            on: schedulers[index],
            name: "\(index)",
            shutdown: .seconds(600),
            count
          )
        }
        let askers = (0..<3).map { index in
          launch(on: schedulers[index]) {
            for round in 0..<40 {
              let actor = actors[(index + round) % 3]
              let answer: Promise<Int> =
                round % 8 == 7 ? actor.ask { .fail(round, $0) } : actor.ask { .total($0) }
              if case .success = try answer.settled() { answered.add() } else { rejected.add() }
            }
          }
        }
        for asker in askers { try asker.value() }
      }
    }
    #expect(answered.value + rejected.value == 120)
    #expect(rejected.value >= 15)
    #expect(answered.value > 0)
  }
}

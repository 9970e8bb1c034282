// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct SupervisorTests {
  /// A body that fails once when told to, and otherwise runs until it is cancelled.
  private func child(
    _ name: String,
    _ log: SharedLog<String>,
    _ failures: Channel<String> = Channel(capacity: 1)
  ) -> () throws -> Void {
    {
      log.add("\(name) begins")
      defer { log.add("\(name) ends") }
      throw Failure(Int(try failures.receive()) ?? 0)
    }
  }

  // MARK: - Order

  @Test(arguments: Elsewhere.allCases)
  func `children start in their order and stop in reverse, wherever they run (rule 14)`(
    place: Elsewhere
  ) throws {
    let (log, ends) = (SharedLog<String>(), SharedLog<Int>())
    try runBlocking {
      let schedulers = place.schedulers(3)
      try withSupervisor { supervisor in
        supervisor.note(in: log)
        for index in 0..<3 {
          supervisor.launch(on: schedulers[index], name: "\(index)", shutdown: .seconds(600)) {
            defer { ends.add(index) }
            try waitForEver()
          }
        }
        try yield { log.entries.count == 3 }
        #expect(supervisor.childCount == 3)
      }
    }
    #expect(ends.entries == [2, 1, 0])
    #expect(
      log.entries == [
        "started 0", "started 1", "started 2", "stopped 2", "stopped 1", "stopped 0", "ended",
      ]
    )
  }

  @Test func `its events tell its life, and the channel of them ends`() throws {
    try runBlocking {
      let supervisor = Supervisor(name: "root")
      let events = supervisor.events()
      supervisor.launch(name: "a") { try waitForEver() }
      supervisor.launch(name: "b", restart: .temporary) {}
      try yield { supervisor.childCount == 1 }
      try supervisor.stopAndJoin()
      #expect(
        events.map(text(of:)) == ["started a", "started b", "stopped b", "stopped a", "ended"]
      )
      #expect(supervisor.error == nil)
      #expect(supervisor.events().map(text(of:)) == ["ended"])
    }
  }

  // MARK: - What a child is

  struct End: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let restart: ChildRestart
    let end: @Sendable () throws -> Void
    let runs: Int

    init(
      _ restart: ChildRestart,
      _ what: String,
      runs: Int,
      _ end: @escaping @Sendable () throws -> Void
    ) {
      self.restart = restart
      self.end = end
      self.runs = runs
      testDescription = "\(restart) \(what)"
    }
  }

  private static let ends = [
    End(.permanent, "returns", runs: 3) {},
    End(.permanent, "throws", runs: 3) { throw Failure(1) },
    End(.permanent, "is cancelled", runs: 3) { throw CancellationError() },
    End(.transient, "returns", runs: 1) {},
    End(.transient, "throws", runs: 3) { throw Failure(1) },
    End(.transient, "is cancelled", runs: 1) { throw CancellationError() },
    End(.temporary, "returns", runs: 1) {},
    End(.temporary, "throws", runs: 1) { throw Failure(1) },
  ]

  @Test(arguments: ends)
  func `a child comes back by what it is and how it ended`(_ end: End) throws {
    try runBlocking {
      var runs = 0
      try withSupervisor { supervisor in
        let child = supervisor.launch(name: "child", restart: end.restart) {
          runs += 1
          if runs == 3 { try waitForEver() }
          try end.end()
        }
        if end.runs == 3 {
          try yield { runs == 3 }
          #expect(child.restarts == 2)
          child.stop()
        }
        try supervisor.waitForChildren()
        try child.join()
        #expect(child.isStopped)
      }
      #expect(runs == end.runs)
    }
  }

  // MARK: - Strategies

  @Test(arguments: [
    (SupervisionStrategy.oneForOne, ["b ends", "b begins"]),
    (.allForOne, ["b ends", "c ends", "a ends", "a begins", "b begins", "c begins"]),
    (.restForOne, ["b ends", "c ends", "b begins", "c begins"]),
  ])
  func `the strategy says who is restarted, in which order`(
    strategy: SupervisionStrategy,
    steps: [String]
  ) throws {
    let log = SharedLog<String>()
    try runBlocking {
      try withSupervisor(strategy: strategy) { supervisor in
        let failures = Channel<String>(capacity: 1)
        supervisor.launch(name: "a", child("a", log))
        supervisor.launch(name: "b", child("b", log, failures))
        supervisor.launch(name: "c", child("c", log))
        try yield { log.entries.count == 3 }
        try failures.send("1")
        try yield { log.entries.count == 3 + steps.count }
        #expect(Array(log.entries[3...]) == steps)
      }
    }
  }

  @Test(arguments: [SupervisionStrategy.allForOne, .restForOne])
  func `a temporary child goes when its group is restarted`(strategy: SupervisionStrategy) throws {
    let log = SharedLog<String>()
    try runBlocking {
      try withSupervisor(strategy: strategy) { supervisor in
        let failures = Channel<String>(capacity: 1)
        supervisor.launch(name: "a", child("a", log, failures))
        let temporary = supervisor.launch(name: "t", restart: .temporary, child("t", log))
        try yield { log.entries.count == 2 }
        try failures.send("1")
        try yield { log.entries.count == 5 }
        #expect(Array(log.entries[2...]) == ["a ends", "t ends", "a begins"])
        #expect(temporary.isStopped)
        #expect(supervisor.childCount == 1)
      }
    }
  }

  @Test(arguments: [SupervisionStrategy.oneForOne, .allForOne, .restForOne])
  func `children keep their order when many between them have gone (rule 14)`(
    strategy: SupervisionStrategy
  ) throws {
    let log = SharedLog<String>()
    try runBlocking {
      try withSupervisor(strategy: strategy) { supervisor in
        let failures = Channel<String>(capacity: 1)
        var (left, gone): ([String], [SupervisedChild]) = ([], [])
        for index in 0..<40 {
          let added = supervisor.launch(
            name: "\(index)",
            child("\(index)", log, index == 20 ? failures : Channel(capacity: 1))
          )
          if index % 5 == 0 { left.append("\(index)") } else { gone.append(added) }
        }
        try yield { log.entries.count == 40 }
        for child in gone {
          child.stop()
          try child.join()
        }
        supervisor.launch(name: "last", child("last", log))
        left.append("last")
        try yield { log.entries.count == 40 + gone.count + 1 }
        #expect(supervisor.childCount == left.count)

        try failures.send("1")
        let affected: [String] =
          switch strategy {
          case .oneForOne: ["20"]
          case .allForOne: left
          case .restForOne: Array(left.drop { $0 != "20" })
          }
        let others = affected.filter { $0 != "20" }
        let expected =
          ["20 ends"] + others.reversed().map { "\($0) ends" } + affected.map { "\($0) begins" }
        let before = 40 + gone.count + 1
        try yield { log.entries.count == before + expected.count }
        #expect(Array(log.entries[before...]) == expected)
        try supervisor.stopAndJoin()
        #expect(Array(log.entries.suffix(left.count)) == left.reversed().map { "\($0) ends" })
      }
    }
  }

  // MARK: - Giving up

  @Test func `too many restarts end it with the child, the cause and the history (rule 14)`() throws
  {
    let log = SharedLog<String>()
    try runBlocking {
      do {
        try withSupervisor(name: "root", intensity: RestartIntensity(2, within: .seconds(3600))) {
          supervisor in
          supervisor.note(in: log)
          supervisor.launch(name: "steady") { try waitForEver() }
          var runs = 0
          supervisor.launch(name: "weak") {
            runs += 1
            throw Failure(runs)
          }
          try waitForEver()
        }
        Issue.record("it went on")
      } catch let error as SupervisorError {
        #expect(error == .tooManyRestarts)
        #expect(error.child == "weak")
        #expect(error.cause as? Failure == Failure(3))
        #expect(error.history.map { $0.error as? Failure } == [Failure(1), Failure(2), Failure(3)])
        #expect(error.history.map(\.restarts) == [0, 1, 2])
        #expect(error.description.contains("The supervisor \"root\" gave up"))
        #expect(error.description.contains("\"weak\": "))
      }
    }
    #expect(
      log.entries == [
        "started steady", "started weak",
        "failed weak", "restarting weak", "restarted weak",
        "failed weak", "restarting weak", "restarted weak",
        "failed weak", "stopped weak", "stopped steady", "ended with an error",
      ]
    )
  }

  @Test func `restarts before the window are forgotten`() throws {
    try runBlocking {
      var runs = 0
      try withSupervisor(intensity: RestartIntensity(1, within: .nanoseconds(1))) { supervisor in
        supervisor.launch(name: "weak", restart: .transient) {
          runs += 1
          if runs < 20 { throw Failure(runs) }
        }
        try supervisor.waitForChildren()
      }
      #expect(runs == 20)
    }
  }

  @Test func `an intensity of zero gives up at the first failure`() throws {
    #expect(throws: SupervisorError.tooManyRestarts) {
      try runBlocking {
        try withSupervisor(intensity: RestartIntensity(0, within: .seconds(1))) { supervisor in
          supervisor.launch(name: "weak") { throw Failure(1) }
          try waitForEver()
        }
      }
    }
  }

  @Test func `a permanent child that only returns is told in the error`() throws {
    try runBlocking {
      do {
        try withSupervisor { supervisor in
          supervisor.launch(name: "short") {}
          try waitForEver()
        }
      } catch let error as SupervisorError {
        #expect(error.cause as? SupervisorError == .childReturned)
        #expect(error.description.contains("Make it transient"))
      }
    }
  }

  @Test func `the directive decides by the error`() throws {
    try runBlocking {
      let asked = Steps<String>()
      var runs = [0, 0]
      do {
        try withSupervisor(
          name: "root",
          intensity: RestartIntensity(3, within: .seconds(3600)),
          decide: { failure in
            asked.add("\(failure.child) \(failure.restarts)")
            switch (failure.error as? Failure)?.code {
            case 1: return .restart
            case 2: return .stop
            default: return .escalate
            }
          }
        ) { supervisor in
          let first = supervisor.launch(name: "first") {
            runs[0] += 1
            throw Failure(runs[0])
          }
          try first.join()
          #expect(runs[0] == 2)
          supervisor.launch(name: "second") {
            runs[1] += 1
            throw Failure(7)
          }
          try waitForEver()
        }
        Issue.record("it went on")
      } catch let error as SupervisorError {
        #expect(error == .escalated)
        #expect(error.child == "second")
        #expect(error.cause as? Failure == Failure(7))
        #expect(error.history.count == 3)
      }
      #expect(runs == [2, 1])
      #expect(asked.entries == ["first 0", "first 1", "second 1"])
    }
  }

  // MARK: - Stopping

  @Test func `a child that does not stop in its time is an error that names it (rule 12)`() throws {
    try runBlocking {
      let gate = Gate()
      let log = SharedLog<String>()
      do {
        try withSupervisor(name: "root") { supervisor in
          supervisor.note(in: log)
          supervisor.launch(name: "stubborn", shutdown: .milliseconds(1)) {
            try withCancellationShield { try gate.wait() }
          }
          supervisor.launch(name: "other") { try waitForEver() }
          try yield { log.entries.count == 2 }
        }
        Issue.record("it ended")
      } catch let error as SupervisorError {
        #expect(error == .childDidNotStop)
        #expect(error.child == "stubborn")
        #expect(error.description.contains("give it more time with `shutdown`"))
      }
      #expect(log.entries.contains("did not stop stubborn"))
      #expect(log.entries.contains("stopped other"))
      gate.open()
    }
  }

  @Test func `a child of a group that does not stop is not started twice (rule 14)`() throws {
    try runBlocking {
      let gate = Gate()
      let failures = Channel<String>(capacity: 1)
      var runs = 0
      let log = SharedLog<String>()
      do {
        try withSupervisor(strategy: .allForOne) { supervisor in
          supervisor.launch(name: "weak", child("weak", log, failures))
          supervisor.launch(name: "stubborn", shutdown: .milliseconds(1)) {
            runs += 1
            try withCancellationShield { try gate.wait() }
          }
          try yield { runs == 1 }
          try failures.send("1")
          try waitForEver()
        }
        Issue.record("it went on")
      } catch SupervisorError.childDidNotStop {
        #expect(runs == 1)
      }
      gate.open()
    }
  }

  @Test func `an error of the body stops the children first`() throws {
    let log = SharedLog<String>()
    #expect(throws: Failure(5)) {
      try runBlocking {
        try withSupervisor { supervisor in
          supervisor.launch(name: "a", child("a", log))
          supervisor.launch(name: "b", child("b", log))
          try yield { log.entries.count == 2 }
          throw Failure(5)
        }
      }
    }
    #expect(log.entries == ["a begins", "b begins", "b ends", "a ends"])
  }

  @Test func `cancelled with its parent it stops its children in order (rule 8)`() throws {
    let log = SharedLog<String>()
    try runBlocking {
      let parent = launch {
        let supervisor = Supervisor()
        supervisor.launch(name: "a", child("a", log))
        supervisor.launch(name: "b", child("b", log))
        try supervisor.join()
      }
      try yield { log.entries.count == 2 }
      try parent.cancelAndJoin()
    }
    #expect(log.entries == ["a begins", "b begins", "b ends", "a ends"])
  }

  @Test func `dropping the last handle stops it`() throws {
    let log = SharedLog<String>()
    try runBlocking {
      var supervisor: Supervisor? = Supervisor()
      let events = supervisor?.events()
      supervisor?.launch(name: "a", child("a", log))
      try yield { log.entries.count == 1 }
      supervisor = nil
      #expect(events.map { $0.map(text(of:)) } == ["started a", "stopped a", "ended"])
    }
    #expect(log.entries == ["a begins", "a ends"])
  }

  @Test func `what is added after its end has ended`() throws {
    try runBlocking {
      let supervisor = Supervisor()
      try supervisor.stopAndJoin()
      let child = supervisor.launch(name: "late") { Issue.record("it ran") }
      #expect(child.isStopped)
      let actor = supervisor.actor(of: Counting.self, name: "late", count)
      #expect(throws: MessageActorError.stopped) { try actor.ask { .total($0) }.await() }
      #expect(supervisor.childCount == 0)
    }
  }

  @Test func `a child on a scheduler that has shut down is a failure (rule 12)`() throws {
    let dead = try runBlocking { Scheduler.current }
    try runBlocking {
      do {
        try withSupervisor { supervisor in
          supervisor.launch(on: dead, name: "homeless") {}
          try waitForEver()
        }
        Issue.record("it went on")
      } catch let error as SupervisorError {
        #expect(error.cause as? CoroutineError == .schedulerShutDown)
      }
    }
  }

  @Test func `outside a coroutine it is refused (rule 12)`() {
    _ = onPlainThread {
      #expect(throws: CoroutineError.outsideCoroutine) { try withSupervisor { _ in } }
    }
  }
}

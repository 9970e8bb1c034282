// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// What runs the programs notices when one goes wrong.
@Suite(.timeLimit(.minutes(30))) struct SavinaStageTests {
  private struct Broken: Error {}

  @Test(arguments: SavinaPlace.all)
  func `an actor's error ends the program, whatever it waits for`(place: SavinaPlace) throws {
    #expect(throws: Broken.self) {
      try SavinaStage.run(place) { stage in
        let patient = stage.actor("patient", of: Reply<Void>.self) { mailbox in
          var replies: [Reply<Void>] = []
          for reply in mailbox { replies.append(reply) }
        }
        let broken = stage.actor("broken", of: Int.self) { mailbox in
          for _ in mailbox { throw Broken() }
        }
        try broken.tell(1)
        try patient.ask { $0 }.await()
      }
    }
  }

  @Test(arguments: SavinaPlace.all)
  func `an actor's error is the program's, also after the main part`(place: SavinaPlace) throws {
    #expect(throws: Broken.self) {
      try SavinaStage.run(place) { stage in
        _ = stage.actor("broken", of: Never.self) { _ in
          try Coroutine.yield()
          throw Broken()
        }
      }
    }
  }

  @Test(arguments: SavinaPlace.all)
  func `an error of the main part ends the actors`(place: SavinaPlace) throws {
    let begun = Channel<Void>(capacity: 1)
    let ended = Channel<Void>(capacity: 1)
    let program: (SavinaStage) throws -> Void = { stage in
      _ = stage.actor("idle", of: Never.self) { mailbox in
        defer { ended.sendIfReady(()) }
        begun.sendIfReady(())
        for _ in mailbox {}
      }
      try begun.receive()
      throw Broken()
    }
    #expect(throws: Broken.self) { try SavinaStage.run(place, program) }
    #expect(ended.count == 1)
  }

  @Test func `an actor that nobody stops is a deadlock`() throws {
    #expect(throws: Deadlock.self) {
      try SavinaStage.run(.shuffled(seed: 1)) { stage in
        _ = stage.actor("idle", of: Never.self) { mailbox in for _ in mailbox {} }
      }
    }
  }
}

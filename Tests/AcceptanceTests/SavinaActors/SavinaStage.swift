// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Dispatch

/// Where the actors of a program run.
enum SavinaPlace: Sendable, Hashable {
  /// All on the loop of the test.
  case oneLoop
  /// In turn on three threads of their own; the main part is on a fourth.
  case threads
  /// In turn on three dispatch queues.
  case queues
  /// In any order, the same for the same seed.
  case shuffled(seed: UInt64)

  static let all: [SavinaPlace] = [
    .oneLoop, .threads, .queues, .shuffled(seed: 1), .shuffled(seed: 2),
  ]

  /// The schedulers, to be used in turn; that of the main part if there are none.
  fileprivate func schedulers() -> [Scheduler] {
    switch self {
    case .oneLoop, .shuffled: []
    case .threads: (0..<3).map { SerialScheduler(name: "savina \($0)") }
    case .queues: (0..<3).map { .queue(DispatchQueue(label: "savina \($0)")) }
    }
  }
}

/// What makes the actors of a program, and sees to it that all of them end.
///
/// A program is over when its main part has returned and every actor has ended. The first error of an actor
/// cancels all of them, and is the error of the program.
final class SavinaStage: Sendable {
  private struct State {
    var actors: [any SavinaPlayer] = []
    var failure: (any Error)?
  }

  private let schedulers: [Scheduler]
  private let state = SavinaGuarded(State())

  private init(_ schedulers: [Scheduler]) { self.schedulers = schedulers }

  /// Makes an actor, on the next scheduler in turn.
  ///
  /// The stage holds it until the program is over: it ends when its body returns, or by `stop`.
  func actor<Message>(
    _ name: String,
    of type: Message.Type = Message.self,
    capacity: MailboxCapacity = .unbounded,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: sending @escaping (Mailbox<Message>) throws -> Void
  ) -> MessageActor<Message> {
    // SAFETY: it was handed over, and goes to one coroutine only.
    nonisolated(unsafe) let body = body
    let watched: @Sendable (Mailbox<Message>) throws -> Void = { mailbox in
      do {
        try body(mailbox)
      } catch {
        if !(error is CancellationError) { self.fail(error) }
        throw error
      }
    }
    let count = state.withLock { $0.actors.count }
    let actor =
      schedulers.isEmpty
      ? MessageActor(name: name, capacity: capacity, file: file, line: line, watched)
      : MessageActor(
        on: schedulers[count % schedulers.count],
        name: name,
        capacity: capacity,
        file: file,
        line: line,
        watched
      )
    let hasFailed = state.withLock {
      $0.actors.append(actor)
      return $0.failure != nil
    }
    if hasFailed { actor.cancel() }
    return actor
  }

  /// Number of actors made.
  var actorCount: Int { state.withLock { $0.actors.count } }

  /// Notes the first error, and cancels everybody.
  private func fail(_ error: any Error) {
    let actors = state.withLock {
      if $0.failure == nil { $0.failure = error }
      return $0.actors
    }
    for actor in actors { actor.cancel() }
  }

  /// Lets every actor end, and throws the first error.
  private func joinAll() throws {
    // An actor is in the list before the one that makes it can end.
    var joined = 0
    while joined < actorCount {
      let actor = state.withLock { $0.actors[joined] }
      try actor.join()
      if let error = actor.error { throw error }
      joined += 1
    }
  }

  private func play<Outcome>(_ main: (SavinaStage) throws -> Outcome) throws -> Outcome {
    defer { state.withLock { $0.actors = [] } }
    do {
      let outcome = try main(self)
      try joinAll()
      return outcome
    } catch {
      fail(error)
      // Nobody is left behind; errors that follow from the first one count as seen.
      try withCancellationShield {
        while (try? joinAll()) == nil { state.withLock { $0.actors.removeAll { $0.isStopped } } }
      }
      throw state.withLock { $0.failure } ?? error
    }
  }

  // MARK: - Running

  /// Runs a program.
  ///
  /// One that hangs is a `Deadlock` when shuffled, else a `TimeoutError`.
  static func run<Outcome>(
    _ place: SavinaPlace,
    _ main: @escaping (SavinaStage) throws -> Outcome
  ) throws -> Outcome {
    if case .shuffled(let seed) = place {
      return try TestScheduler(order: .random(seed: seed)).run {
        try playHere(main)
      }
    }
    let stage = SavinaStage(place.schedulers())
    return try runBlocking {
      try withTimeout(.seconds(120)) { try stage.play(main) }
    }
  }

  /// Runs a program in many orders: near to first come, first served, and at random.
  static func exploreOrders(
    delays: Int = 2,
    runs: Int = 150,
    _ main: @escaping (SavinaStage) throws -> Void
  ) throws {
    try explore(.exhaustive(delays: delays), runs: runs) { try playHere(main) }
    try explore(.random(seed: 7), runs: runs) { try playHere(main) }
  }

  /// Runs a program on the scheduler of the calling coroutine.
  static func playHere<Outcome>(_ main: (SavinaStage) throws -> Outcome) throws -> Outcome {
    try SavinaStage([]).play(main)
  }
}

/// An actor, whatever its messages.
private protocol SavinaPlayer: AnyObject, Sendable {
  var error: (any Error)? { get }
  var isStopped: Bool { get }
  func cancel()
  func join() throws
}

extension MessageActor: SavinaPlayer {}

extension Mailbox {
  /// Tells the owner of the mailbox something.
  ///
  /// An actor has no handle on itself, but its mailbox can be given away as its address.
  func post(_ message: sending Message) throws {
    guard case .sent = tellIfReady(message) else { throw SavinaFailure("nobody takes the message") }
  }
}

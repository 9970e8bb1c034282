// SPDX-License-Identifier: Apache-2.0

package import Coroutines
package import Dispatch

/// A few coroutines whose steps have one right order on every scheduler.
package struct OrderingScenario: Sendable {
  /// Number of the ordering rule that it shows.
  package let rule: Int
  /// What holds, as a sentence.
  package let name: String
  /// The steps in their right order.
  package let expected: [String]
  /// Also looks at what comes after a block of a dispatch queue, so it needs one.
  package let needsQueue: Bool
  private let play: @Sendable (Stage) -> Void

  init(
    rule: Int,
    _ name: String,
    expected: [String],
    needsQueue: Bool = false,
    _ play: @escaping @Sendable (Stage) -> Void
  ) {
    self.rule = rule
    self.name = name
    self.expected = expected
    self.needsQueue = needsQueue
    self.play = play
  }

  /// What a scenario is played with.
  package final class Stage: Sendable {
    package let log = Log()
    /// Has what it is played on run a plain block after those that are there, if it has such.
    package let perform: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
    fileprivate let end = Gate()

    init(perform: (@Sendable (@escaping @Sendable () -> Void) -> Void)?) {
      self.perform = perform
    }

    convenience init(queue: DispatchQueue) {
      self.init { block in queue.async(execute: block) }
    }

    /// The last step has been noted.
    func finish() {
      end.open()
    }
  }

  /// The steps, when an event loop of the calling thread plays it.
  package func stepsOnRunBlocking() throws -> [String] {
    let stage = Stage(perform: nil)
    try runBlocking {
      play(stage)
      try stage.end.wait()
    }
    return stage.log.entries
  }

  /// The steps, when a coroutine of another thread's event loop plays it.
  package func stepsOnSerialScheduler() throws -> [String] {
    let stage = Stage(perform: nil)
    let scheduler = SerialScheduler()
    try runBlocking {
      launch(on: scheduler) { play(stage) }
      try stage.end.wait()
    }
    return stage.log.entries
  }

  /// The steps, when a plain block of the queue plays it.
  package func stepsInBlock(of queue: DispatchQueue) throws -> [String] {
    let stage = Stage(queue: queue)
    queue.async { play(stage) }
    try runBlocking { try stage.end.wait() }
    return stage.log.entries
  }

  /// The steps, when a coroutine of the queue plays it.
  package func stepsInCoroutine(of queue: DispatchQueue) throws -> [String] {
    let stage = Stage(queue: queue)
    launch(on: queue) { play(stage) }
    try runBlocking { try stage.end.wait() }
    return stage.log.entries
  }

  /// The steps, when a coroutine of a scheduler plays it that runs plain blocks too.
  package func steps(
    inCoroutineOf scheduler: Scheduler,
    andBlocksBy perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) throws -> [String] {
    let stage = Stage(perform: perform)
    launch(on: scheduler) { play(stage) }
    try runBlocking { try stage.end.wait() }
    return stage.log.entries
  }
}

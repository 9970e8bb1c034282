// SPDX-License-Identifier: Apache-2.0

public import Dispatch
import Foundation

/// Some coroutines whose steps come in one right order, on every serial queue.
public struct Scenario: Sendable, CustomStringConvertible {
  /// Number among the behaviours that the documents of coobjc, coswift and RJIterator describe.
  public let number: Int
  /// What holds.
  public let name: String
  /// The steps in their right order.
  public let expected: [String]
  private let body: @Sendable (Play) -> Void

  /// A scenario.
  ///
  /// - Parameters:
  ///   - number: Its number.
  ///   - name: What holds.
  ///   - expected: The steps in their right order.
  ///   - body: Runs in a block of the queue; the last of its coroutines calls `finish`.
  public init(
    _ number: Int,
    _ name: String,
    expected: [String],
    _ body: @escaping @Sendable (Play) -> Void
  ) {
    self.number = number
    self.name = name
    self.expected = expected
    self.body = body
  }

  /// `39 an unbuffered send waits`.
  public var description: String { "\(number) \(name)" }

  /// Plays it in a block of the queue, and waits for its end.
  ///
  /// - Parameter queue: The queue; not the one of the caller.
  /// - Returns: The steps; with a remark at the end if it did not end within 30 seconds.
  public func steps(on queue: DispatchQueue) -> [String] {
    let play = Play(queue: queue)
    queue.async { body(play) }
    if !play.waitForEnd() { play.log("did not end") }
    return play.entries
  }
}

/// A scenario that is being played.
public final class Play: @unchecked Sendable {
  // SAFETY: `lines` is guarded by `lock`.

  /// The queue that it is played on.
  public let queue: DispatchQueue
  private let lock = NSLock()
  private var lines: [String] = []
  private let end = DispatchSemaphore(value: 0)

  init(queue: DispatchQueue) {
    self.queue = queue
  }

  /// Notes a step.
  public func log(_ line: String) {
    lock.withLock { lines.append(line) }
  }

  /// The last step has been noted.
  public func finish() {
    end.signal()
  }

  var entries: [String] { lock.withLock { lines } }

  func waitForEnd() -> Bool { end.wait(timeout: .now() + 300) == .success }
}

extension Scenario {
  /// All of them.
  public static let all =
    launchScenarios + cancelScenarios + promiseScenarios + channelScenarios + generatorScenarios
    + actorScenarios
}

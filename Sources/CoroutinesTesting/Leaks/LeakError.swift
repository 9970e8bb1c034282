// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
public import Coroutines
import Dispatch

/// What a `withLeakCheck` found to be left at its end.
public struct LeakError: Error, CustomStringConvertible {
  /// A coroutine that has not ended.
  public struct LeakedCoroutine: Sendable, CustomStringConvertible {
    /// The coroutine: `coroutine #7 "fetch" (suspended)`.
    public let coroutine: String
    /// Where it was launched.
    public let creationSite: SourceSite
    /// The call that it waits in and what it waits for: `Channel.receive() on channel made at …`; nil if it
    /// does not wait, or its thread did not say.
    public let wait: String?

    /// All of this.
    public var description: String {
      "\(coroutine), launched at \(creationSite)" + (wait.map { ", waits in \($0)" } ?? "")
    }
  }

  /// Coroutines, in the order of their launches.
  public let coroutines: [LeakedCoroutine]

  /// Where the generators were made that have begun and have neither ended nor been dropped.
  public let generators: [SourceSite]

  /// Stacks that these hold.
  public let stacks: Int

  /// Where the check stands.
  public let site: SourceSite

  /// What is left, one a line.
  public var description: String {
    func count(_ number: Int, _ noun: String) -> String? {
      number == 0 ? nil : "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
    let parts = [count(coroutines.count, "coroutine"), count(generators.count, "generator")]
    let what = parts.compactMap { $0 }.joined(separator: " and ")
    let holding = count(stacks, "stack").map { ", with \($0)" } ?? ""
    let lines =
      coroutines.map(\.description)
      + generators.map {
        "generator made at \($0), has begun and has neither ended nor been dropped"
      }
    return
      (["Left at the end of the leak check at \(site): \(what)\(holding)."]
      + lines.map { "  " + $0 }
      + ["Cancel and join what is to end, close what it waits for, or let the check begin earlier."])
      .joined(separator: "\n")
  }

  init?(_ census: Census, patience: Duration, _ site: SourceSite) {
    let left = census.coroutines
    generators = census.generators.sorted { $0.description < $1.description }
    if left.isEmpty && generators.isEmpty { return nil }
    self.site = site
    let looks = left.map { ($0, Look.at($0, patience)) }
    coroutines = looks.map { coroutine, look in
      LeakedCoroutine(
        coroutine: coroutine.description,
        creationSite: coroutine.creationSite,
        wait: look.wait
      )
    }
    stacks = looks.count { $0.1.hasStack } + generators.count
  }
}

/// What only the scheduler of a coroutine knows of it.
private struct Look: Sendable {
  var wait: String?
  var hasStack = false

  init() {}

  /// With the turn of its scheduler.
  private init(with coroutine: Coroutine) {
    wait = coroutine.wait?.description
    hasStack = coroutine.fiber.pointee.stack != nil
  }

  /// Looks at a coroutine wherever it is.
  ///
  /// - Parameters:
  ///   - coroutine: One that has not ended.
  ///   - patience: How long to wait for a scheduler on another thread.
  /// - Returns: What it says; nothing if it did not say it in time.
  static func at(_ coroutine: Coroutine, _ patience: Duration) -> Look {
    if coroutine.isInReach { return Look(with: coroutine) }
    let answer = Answer()
    coroutine.performAtHome { answer.give(Look(with: coroutine)) }
    return answer.wait(atMost: patience)
  }

  /// A look that another thread takes.
  private final class Answer: @unchecked Sendable {
    // SAFETY: guarded by the lock.
    private let lock = AllocatedLock()
    private var look = Look()
    private let isGiven = DispatchSemaphore(value: 0)

    func give(_ look: Look) {
      lock.withLock { self.look = look }
      isGiven.signal()
    }

    func wait(atMost patience: Duration) -> Look {
      let nanoseconds = Int(min(patience.saturatedNanoseconds, Int64(Int32.max) * 1000))
      _ = isGiven.wait(timeout: .now() + .nanoseconds(nanoseconds))
      return lock.withLock { look }
    }
  }
}

extension Coroutine {
  /// The calling thread has the turn of its scheduler, or it is one of the test's own, which nothing runs now.
  var isInReach: Bool {
    let home = fiber.pointee.home
    return currentThread().currentHome == home || home.core is SteppedLoop
  }
}

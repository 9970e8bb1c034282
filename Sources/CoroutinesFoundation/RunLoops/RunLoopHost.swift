// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Foundation

/// What a scheduler asks of a run loop.
final class RunLoopHost: TurnHost, @unchecked Sendable {
  // SAFETY: `isRung` and `alive` are guarded by `lock`, `sleeper` belongs to the run loop's thread. The
  // run loop itself is used from other threads only to perform blocks and to add timers, which Core
  // Foundation guards by locks of its own.

  private let runLoop: RunLoop
  private let lock = NSLock()
  private var isRung = false
  private var alive = 0
  private var keeper: Timer?
  private var sleeper: Timer?

  private init(_ runLoop: RunLoop) { self.runLoop = runLoop }

  // MARK: - Which run loop

  /// The schedulers in use, by run loop.
  private final class Registry: @unchecked Sendable {
    // SAFETY: guarded by `lock`.
    struct Entry { weak var core: HostedCore? }
    let lock = NSLock()
    var entries: [ObjectIdentifier: Entry] = [:]
  }

  private static let registry = Registry()

  /// The scheduler of a run loop, made at its first use.
  static func core(of runLoop: RunLoop) -> HostedCore {
    registry.lock.withLock {
      // A scheduler holds its run loop, so while there is one, the identity is the run loop's.
      let key = ObjectIdentifier(runLoop)
      if let known = registry.entries[key]?.core { return known }
      let core = HostedCore(
        host: RunLoopHost(runLoop),
        label: runLoop === RunLoop.main ? "main run loop" : "run loop"
      )
      registry.entries = registry.entries.filter { $0.value.core != nil }
      registry.entries[key] = .init(core: core)
      return core
    }
  }

  // MARK: - TurnHost

  func perform(_ block: @escaping () -> Void) {
    // SAFETY: run once, on the run loop's thread.
    nonisolated(unsafe) let block = block
    runLoop.perform(inModes: [.common]) { block() }
    wake()
  }

  /// Blocks alone do not wake a run loop that sleeps.
  private func wake() {
    #if canImport(Darwin)
    CFRunLoopWakeUp(runLoop.getCFRunLoop())
    #else
    let mustRing = lock.withLock {
      defer { isRung = true }
      return !isRung
    }
    guard mustRing else { return }
    // Core Foundation's call for this is not to be had on Linux; a timer that is due does it. The blocks
    // that are there when it has fired are run in the same pass, so one is enough for all of them.
    let bell = Timer(timeInterval: 0, repeats: false) { [weak self] _ in
      guard let self else { return }
      lock.withLock { isRung = false }
    }
    runLoop.add(bell, forMode: .common)
    #endif
  }

  var isHere: Bool { RunLoop.current === runLoop }

  func setTimer(after delay: Int64, _ block: @escaping () -> Void) {
    // SAFETY: run on the run loop's thread, which is where this runs.
    nonisolated(unsafe) let block = block
    sleeper?.invalidate()
    let timer = Timer(timeInterval: Double(delay) / 1e9, repeats: false) { _ in block() }
    sleeper = timer
    runLoop.add(timer, forMode: .common)
  }

  func clearTimer() {
    sleeper?.invalidate()
    sleeper = nil
  }

  func coroutineBegan() {
    let isFirst = lock.withLock {
      alive += 1
      guard alive == 1 else { return nil as Timer? }
      // An input that the run loop waits for, without ever coming to anything.
      keeper = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
      return keeper
    }
    if let isFirst { runLoop.add(isFirst, forMode: .common) }
  }

  func coroutineEnded() {
    let last = lock.withLock {
      alive -= 1
      guard alive == 0 else { return nil as Timer? }
      defer { keeper = nil }
      return keeper
    }
    last?.invalidate()
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines

/// The inside of an `RJIterator`: a two-way generator, and what `rj_yield` finds it by.
///
/// It needs neither a queue nor a coroutine: the body runs on the caller's thread, on a stack of its own.
final class RJMachine: @unchecked Sendable {
  // SAFETY: one user at a time, which `isRunning` checks under the lock; the rest is that user's.

  private let generator: TwoWayGenerator<Any?, RJMouth.Sent, Any?>
  private let lock = AllocatedLock()
  private var isRunning = false

  /// The body has no return value: there is none to pass on when another iterator yields this one.
  let isVoid: Bool

  /// What every call gives after the end.
  private var final = RJResult(value: nil, done: true)

  private let mouth = RJMouth()

  init(isVoid: Bool, _ body: @escaping () throws -> Any?) {
    self.isVoid = isVoid
    let mouth = mouth
    generator = TwoWayGenerator { yield in
      mouth.yield = yield
      defer { mouth.yield = nil }
      return try body()
    }
  }

  deinit {
    mouth.isDropped = true
    // Unwinds a body that has not ended; its `defer` blocks may look for the running iterator.
    active { generator.cancel() }
  }

  // MARK: - From outside

  func next() -> RJResult { resume { try generator.next() } }

  func next(_ value: Any?) -> RJResult { resume { try generator.next(.value(value)) } }

  func `throw`(_ error: any Error) -> RJResult { resume { try generator.throw(error) } }

  func `return`(_ value: Any?) -> RJResult {
    let wasFinished = generator.isFinished
    let result = resume { try generator.return(value) }
    if result.done, result.error == nil {
      // On an ended iterator it says what it was asked to say, and nothing changes.
      if wasFinished { return RJResult(value: value, done: true) }
      final = result
    }
    return result
  }

  private func resume(_ work: () throws -> GeneratorStep<Any?, Any?>) -> RJResult {
    let isFree = lock.withLock {
      defer { isRunning = true }
      return !isRunning
    }
    guard isFree else { return RJResult(value: nil, error: RJError.alreadyRunning) }
    defer { lock.withLock { isRunning = false } }
    do {
      switch try active(work) {
      case .yielded(let value): return RJResult(value: value)
      case .returned(.some(let value)):
        final = RJResult(value: value, done: true)
        return final
      case .returned(nil): return final
      }
    } catch {
      return RJResult(value: nil, error: error, done: true)
    }
  }

  /// Runs `work` with this as the running iterator.
  private func active<Result>(_ work: () throws -> Result) rethrows -> Result {
    let outer = ActiveIterators.enter(mouth)
    defer { ActiveIterators.leave(outer) }
    return try work()
  }
}

/// What the body of an iterator yields through.
///
/// It does not hold the machine: a body that did would keep its own iterator alive while it is suspended.
final class RJMouth: @unchecked Sendable {
  // SAFETY: used by the body, and by the machine before and after it runs.

  /// What the waking call sends: a value, which may be nil; or, being absent, nothing.
  enum Sent {
    case value(Any?)
  }

  /// The generator's yield, while the body is there.
  var yield: TwoWayGenerator<Any?, Sent, Any?>.Yield?

  /// The iterator has been dropped.
  var isDropped = false

  /// That of the iterator whose body runs this code.
  static var current: RJMouth? { ActiveIterators.current }

  /// Hands a value out.
  ///
  /// - Returns: What was sent in: nil if nothing was.
  func hand(_ value: Any?) throws -> Any?? {
    guard let yield else { throw RJError.outsideIterator }
    do {
      guard case .value(let sent) = try yield(value) else { return nil }
      return .some(sent)
    } catch is CancellationError where isDropped {
      throw COError.generatorCancelled
    }
  }
}

/// Which iterator runs where: the innermost one of each coroutine, and of each thread without one.
///
/// A body runs on behalf of whoever asked, and may wait if that is a coroutine; it goes on on its behalf, on
/// whatever thread. So the coroutine is the key, where there is one.
private enum ActiveIterators {
  private static let table = Table()

  private final class Table: @unchecked Sendable {
    // SAFETY: `entries` is guarded by `lock`.
    let lock = AllocatedLock()
    var entries: [UnsafeMutableRawPointer: RJMouth] = [:]
  }

  private static var key: UnsafeMutableRawPointer {
    let thread = currentThread()
    return thread.runningFiber.map { UnsafeMutableRawPointer($0) }
      ?? UnsafeMutableRawPointer(thread)
  }

  static var current: RJMouth? {
    let key = key
    return table.lock.withLock { table.entries[key] }
  }

  /// Makes an iterator the running one.
  ///
  /// - Returns: The one before.
  static func enter(_ mouth: RJMouth) -> RJMouth? {
    let key = key
    return table.lock.withLock {
      defer { table.entries[key] = mouth }
      return table.entries[key]
    }
  }

  static func leave(_ outer: RJMouth?) {
    let key = key
    table.lock.withLock { table.entries[key] = outer }
  }
}

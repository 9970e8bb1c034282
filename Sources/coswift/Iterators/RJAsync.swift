// SPDX-License-Identifier: Apache-2.0
// The names are those of coobjc, coswift and RJIterator.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoroutineKernel
public import Coroutines
import Dispatch

/// Tells what an asynchronous task came to: a value and an error, either of which may be nil.
///
/// From any thread; the first call counts.
public typealias RJAsyncCallback = @Sendable (Any?, Any?) -> Void

/// An asynchronous task: starts it, and has the callback called when it is done.
public typealias RJAsyncClosure = (@escaping RJAsyncCallback) -> Void

/// What `rj_await` can wait for beside closures: anything with a way to ask for its value later.
///
/// `Promise` is one, and any `Thenable` becomes one by saying so. New code writes a `Thenable` instead, which
/// `rj_await` takes as well.
public protocol RJThenable {
  /// Has one of the closures called when there is an outcome, or at once if there is one.
  ///
  /// - Parameters:
  ///   - fulfilled: Takes the value.
  ///   - rejected: Takes the error.
  func rj_then(
    _ fulfilled: @escaping @Sendable (Any?) -> Void,
    _ rejected: @escaping @Sendable (Any?) -> Void
  )
}

extension RJThenable where Self: Thenable {
  /// Has one of the closures called when there is an outcome, or at once if there is one.
  ///
  /// - Parameters:
  ///   - fulfilled: Takes the value.
  ///   - rejected: Takes the error.
  public func rj_then(
    _ fulfilled: @escaping @Sendable (Any?) -> Void,
    _ rejected: @escaping @Sendable (Any?) -> Void
  ) {
    tell { outcome in
      switch outcome {
      case .success(let value): fulfilled(value)
      case .failure(let error): rejected(error)
      }
    }
  }
}

extension Promise: RJThenable {}

extension Thenable {
  /// Has the outcome told, once.
  fileprivate func tell(_ observer: @escaping (Result<Value, any Error>) -> Void) {
    Coroutines.Promise(following: self).observe(observer)
  }
}

/// Waits, in the block of `rj_async`, until a task is done.
///
/// | task | result |
/// |---|---|
/// | `RJAsyncClosure` | is started; value and error of its callback |
/// | `Thenable` or `RJThenable`, for instance a `Promise` | its value or its error |
/// | anything else | is the value itself, at once |
///
/// In any other `RJIterator` it yields the task, and returns what `next(_:)` sends: an `RJResult`, or a value.
/// So `rj_async` can be written by hand.
///
/// - Parameter task: The task.
/// - Returns: Value and error. A task that drops its callback gives the error `RJError.neverCalledBack`.
/// - Throws: An error that ends the block when it is abandoned; `RJError.outsideIterator`.
@discardableResult
public func rj_await(_ task: Any?) throws -> RJResult {
  guard let mouth = RJMouth.current else { throw RJError.outsideIterator }
  let sent: Any? = try mouth.hand(task) ?? nil
  return sent as? RJResult ?? RJResult(value: sent)
}

/// Runs a block that waits for tasks with `rj_await`, on the main queue.
///
/// It begins later, not within this call. The block always goes on on the main queue, wherever its tasks are
/// done; it is a coroutine there, so it may also wait in any other way. What it throws is printed to standard
/// error.
///
/// - Parameter block: The block.
/// - Returns: The epilog: what to do after the end.
@discardableResult
public func rj_async(_ block: @escaping () throws -> Void) -> RJAsyncEpilog {
  let epilog = RJAsyncEpilog()
  let iterator = RJIterator(standardBlock: block)
  co_launch(queue: .main) {
    defer { epilog.finish() }
    var result = iterator.next()
    while !result.done {
      do {
        result = iterator.next(try outcome(of: result.value))
      } catch {
        // The coroutine around `rj_async` was cancelled, and this one with it: the block unwinds.
        result = iterator.throw(COError.translating(error))
      }
    }
    if let error = result.error as? any Error { throw error }
  }
  return epilog
}

/// Starts a task and waits for its outcome.
private func outcome(of task: Any?) throws -> RJResult {
  do {
    return try Coroutines.Promise(following: RJTask(task)).await()
  } catch PromiseError.abandoned {
    return RJResult(value: nil, error: RJError.neverCalledBack)
  }
}

/// A task as a promise can follow it.
///
/// The resolver is in the task's hands only: when it lets go, nobody can call it any more.
private struct RJTask: Thenable {
  private let task: Any?

  init(_ task: Any?) {
    self.task = task
  }

  /// Starts the task; value and error are its outcome together, so it is never a rejection.
  func whenSettled(_ resolver: CallbackResolver<RJResult>) {
    let callback: RJAsyncCallback = { resolver(RJResult(value: $0, error: $1)) }
    if let closure = task as? RJAsyncClosure {
      closure(callback)
    } else if let closure = task as? (@escaping (Any?, Any?) -> Void) -> Void {
      closure(callback)
    } else if let thenable = task as? any RJThenable {
      thenable.rj_then({ callback($0, nil) }, { callback(nil, $0) })
    } else if let thenable = task as? any Thenable {
      Self.follow(thenable, callback)
    } else {
      callback(task, nil)
    }
  }

  private static func follow(_ thenable: some Thenable, _ callback: @escaping RJAsyncCallback) {
    thenable.tell { outcome in
      switch outcome {
      case .success(let value): callback(value, nil)
      case .failure(let error): callback(nil, error)
      }
    }
  }
}

/// What follows a block of `rj_async`.
public final class RJAsyncEpilog: @unchecked Sendable {
  // SAFETY: `hooks` and `hasEnded` are guarded by `lock`.
  private let lock = AllocatedLock()
  private var hooks: [() -> Void] = []
  private var hasEnded = false

  fileprivate init() {}

  /// Runs a block on the main queue when that of `rj_async` has ended, by whatever way; also if it has ended
  /// already.
  ///
  /// - Parameter block: Runs once.
  /// - Returns: The epilog itself.
  @discardableResult
  public func finally(_ block: @escaping () -> Void) -> RJAsyncEpilog {
    // SAFETY: it runs on the main queue, as the user asks.
    nonisolated(unsafe) let block = block
    let isLate = lock.withLock {
      if !hasEnded { hooks.append(block) }
      return hasEnded
    }
    if isLate { DispatchQueue.main.async { block() } }
    return self
  }

  fileprivate func finish() {
    let hooks = lock.withLock {
      defer { (self.hooks, hasEnded) = ([], true) }
      return self.hooks
    }
    for hook in hooks { hook() }
  }
}

// SPDX-License-Identifier: Apache-2.0

public import Dispatch

extension SettlingRight {
  /// Calls a constructor with closures that settle, and hold the right; what it throws rejects.
  ///
  /// They cannot follow anything, so the promise alone says which of them was first.
  @inlinable
  func run(
    _ constructor: (@escaping Promise<Value>.Fulfill, @escaping Promise<Value>.Reject) throws ->
      Void
  ) {
    begin()
    do {
      try constructor({ self.promise.fulfill($0) }, { self.promise.reject($0) })
    } catch {
      promise.reject(error)
    }
  }

  /// Does the work, and settles the promise with what it comes to.
  @inlinable
  func run(_ work: () throws -> Value) {
    begin()
    do {
      // SAFETY: the value is new, and nobody else knows it.
      nonisolated(unsafe) let value = try work()
      promise.fulfill(consume value)
    } catch {
      promise.reject(error)
    }
  }
}

/// Where the work of promises begins.
///
/// In the library and not in its callers, which would have a launch each.
@usableFromInline
enum PromiseWork {
  /// Launches it: at once up to where it first parks, or on a scheduler, for which it has been sent.
  @usableFromInline
  static func begin(
    on scheduler: Scheduler?,
    _ file: StaticString,
    _ line: UInt,
    _ work: @escaping () -> Void
  ) {
    if let scheduler {
      // SAFETY: the closure runs once, there; what it holds was sent to where it was made.
      nonisolated(unsafe) let work = work
      Coroutines.launch(on: scheduler, file: file, line: line) { work() }
    } else {
      Coroutines.launch(start: .immediately, file: file, line: line, work)
    }
  }
}

extension Promise {
  /// Settles the promise with a value; from any thread.
  public typealias Fulfill = @Sendable (sending Value) -> Void

  /// Settles the promise with an error; from any thread.
  public typealias Reject = @Sendable (any Error) -> Void

  /// A promise whose work begins now, on the scheduler of the code that makes it.
  ///
  /// The constructor runs as a coroutine of its own, at once up to where it first parks: two promises
  /// that are made and then awaited overlap. It may hand the two closures to callbacks and return; when
  /// both closures are gone and nothing has settled it, the promise is rejected as abandoned.
  ///
  /// - Parameters:
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - constructor: Begins the work. What it throws rejects the promise.
  @inlinable
  public convenience init(
    file: StaticString = #fileID,
    line: UInt = #line,
    _ constructor: @escaping (@escaping Fulfill, @escaping Reject) throws -> Void
  ) {
    self.init(file: file, line: line)
    let right = SettlingRight(self, hasBegun: false)
    PromiseWork.begin(on: nil, file, line) { right.run(constructor) }
  }

  /// A promise whose work begins now, on a given scheduler.
  ///
  /// - Parameters:
  ///   - scheduler: Where the constructor runs, as a coroutine; always later, never inline.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - constructor: Begins the work. What it throws rejects the promise.
  @inlinable
  public convenience init(
    on scheduler: Scheduler,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ constructor: sending @escaping (@escaping Fulfill, @escaping Reject) throws -> Void
  ) {
    self.init(file: file, line: line)
    let right = SettlingRight(self, hasBegun: false)
    PromiseWork.begin(on: scheduler, file, line) { right.run(constructor) }
  }

  /// A promise whose work begins now, on a dispatch queue.
  ///
  /// - Parameters:
  ///   - queue: Where the constructor runs, as a coroutine; always later, never inline.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - constructor: Begins the work. What it throws rejects the promise.
  public convenience init(
    on queue: DispatchQueue,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ constructor: sending @escaping (@escaping Fulfill, @escaping Reject) throws -> Void
  ) {
    self.init(on: .queue(queue), file: file, line: line, constructor)
  }

  /// A promise for what `work` returns; the work begins now, on the scheduler of the code that makes it.
  ///
  /// - Parameters:
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - work: Runs as a coroutine, at once up to where it first parks. What it throws rejects the promise.
  @inlinable
  public convenience init(
    file: StaticString = #fileID,
    line: UInt = #line,
    _ work: @escaping () throws -> Value
  ) {
    self.init(file: file, line: line)
    let right = SettlingRight(self, hasBegun: false)
    PromiseWork.begin(on: nil, file, line) { right.run(work) }
  }

  /// A promise whose work begins when somebody first awaits or observes it, or calls `start`.
  ///
  /// - Parameters:
  ///   - scheduler: Where the constructor runs; that of the first observer if left out.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - constructor: Begins the work. What it throws rejects the promise.
  /// - Returns: The promise.
  @inlinable
  public static func lazy(
    on scheduler: Scheduler? = nil,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ constructor: sending @escaping (@escaping Fulfill, @escaping Reject) throws -> Void
  ) -> Promise {
    let promise = Promise(file: file, line: line)
    // It gets the promise, and does not hold it: a lazy promise that nobody looks at must go away.
    promise.setStarter { promise in
      // SAFETY: a starter gets the promise that it was set for.
      let right = SettlingRight(unsafeDowncast(promise, to: Promise.self), hasBegun: false)
      PromiseWork.begin(on: scheduler, file, line) { right.run(constructor) }
    }
    return promise
  }

  /// A promise that is fulfilled.
  ///
  /// - Parameters:
  ///   - value: Its value.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  /// - Returns: The promise.
  @inlinable
  public static func fulfilled(
    _ value: sending Value,
    file: StaticString = #fileID,
    line: UInt = #line
  ) -> Promise {
    let promise = Promise(file: file, line: line)
    promise.fulfill(consume value)
    return promise
  }

  /// A promise that is rejected.
  ///
  /// - Parameters:
  ///   - error: Its error.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  /// - Returns: The promise.
  @inlinable
  public static func rejected(
    _ error: any Error,
    file: StaticString = #fileID,
    line: UInt = #line
  ) -> Promise {
    let promise = Promise(file: file, line: line)
    promise.reject(error)
    return promise
  }
}

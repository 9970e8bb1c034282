// SPDX-License-Identifier: Apache-2.0

public import Dispatch

extension ProgressPromise {
  /// Begins the work: gets the meter, and what settles the promise.
  public typealias Constructor = (
    _ progress: ProgressMeter,
    _ fulfill: @escaping Promise<Value>.Fulfill,
    _ reject: @escaping Promise<Value>.Reject
  ) throws -> Void

  /// A pending promise that is settled by calling its methods.
  ///
  /// - Parameters:
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  public convenience init(file: StaticString = #fileID, line: UInt = #line) {
    self.init(Promise(file: file, line: line))
  }

  /// A promise whose work begins now, on the scheduler of the code that makes it.
  ///
  /// The constructor runs as a coroutine of its own, at once up to where it first parks; see
  /// `Promise.init(file:line:_:)`.
  ///
  /// - Parameters:
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - constructor: Begins the work. What it throws rejects the promise.
  public convenience init(
    file: StaticString = #fileID,
    line: UInt = #line,
    _ constructor: @escaping Constructor
  ) {
    let meter = ProgressMeter()
    self.init(
      Promise(file: file, line: line) { try constructor(meter, $0, $1) },
      meter: meter
    )
  }

  /// A promise whose work begins now, on a given scheduler.
  ///
  /// - Parameters:
  ///   - scheduler: Where the constructor runs, as a coroutine; always later, never inline.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - constructor: Begins the work. What it throws rejects the promise.
  public convenience init(
    on scheduler: Scheduler,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ constructor: sending @escaping Constructor
  ) {
    let meter = ProgressMeter()
    self.init(
      Promise(on: scheduler, file: file, line: line) { try constructor(meter, $0, $1) },
      meter: meter
    )
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
    _ constructor: sending @escaping Constructor
  ) {
    self.init(on: .queue(queue), file: file, line: line, constructor)
  }

  /// A promise for what `work` returns; the work begins now, on the scheduler of the code that makes it.
  ///
  /// - Parameters:
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - work: Runs as a coroutine, at once up to where it first parks. What it throws rejects the promise.
  public convenience init(
    file: StaticString = #fileID,
    line: UInt = #line,
    _ work: @escaping (_ progress: ProgressMeter) throws -> Value
  ) {
    self.init(file: file, line: line) { progress, fulfill, _ in
      // SAFETY: the value is new, and nobody else knows it.
      nonisolated(unsafe) let value = try work(progress)
      fulfill(value)
    }
  }

  /// A promise whose work begins when somebody first iterates, awaits or observes it, or calls `start`.
  ///
  /// - Parameters:
  ///   - scheduler: Where the constructor runs; that of the first observer if left out.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - constructor: Begins the work. What it throws rejects the promise.
  /// - Returns: The promise.
  public static func lazy(
    on scheduler: Scheduler? = nil,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ constructor: sending @escaping Constructor
  ) -> ProgressPromise {
    let meter = ProgressMeter()
    return ProgressPromise(
      Promise.lazy(on: scheduler, file: file, line: line) { try constructor(meter, $0, $1) },
      meter: meter
    )
  }
}

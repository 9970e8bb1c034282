// SPDX-License-Identifier: Apache-2.0

package import CoroutineKernel

/// Waiting until a call on a descriptor would not block.
///
/// Every wait may end early: who waits calls again, and waits again if the call would still block.
package enum DescriptorWait {
  package typealias Direction = DescriptorDirection

  /// How a wait ended.
  package enum Outcome: Sendable, Equatable {
    /// A call may succeed now, or say what is wrong.
    case ready
    /// The deadline has passed.
    case timedOut
    /// The descriptor has been closed meanwhile (`close`), or is about to be.
    case closed
    /// It cannot be waited for; an error number.
    case failed(Int32)
  }

  /// The library has opened the descriptor: until `close` it is watched for good, and waits for it cost no
  /// system call of their own.
  package static func adopt(_ descriptor: Int32) { DescriptorTable.adopt(descriptor) }

  /// Ends all waits for a descriptor, which is about to be closed, with `closed`.
  package static func close(_ descriptor: Int32) { DescriptorTable.retire(descriptor) }

  // MARK: - Descriptors of others

  /// Parks the running coroutine until a descriptor is ready, which others may use, close and open again
  /// behind our back.
  ///
  /// What is ready now ends the wait at once, after a look at the other coroutines. Files always are.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor; its flags are not changed.
  ///   - direction: What for.
  ///   - deadline: When to give up, in nanoseconds of `clockNow()`.
  ///   - operation: For dumps.
  /// - Returns: How the wait ended; what ended it may be over when the caller looks.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  package static func wait(
    _ descriptor: Int32,
    for direction: Direction,
    deadline: Int64? = nil,
    _ operation: StaticString
  ) throws -> Outcome {
    guard let entry = DescriptorTable.entry(descriptor) else {
      return .failed(DescriptorFailure.badDescriptor.code)
    }
    let seen = entry.edges(direction)
    let (generation, isOwned, interest) = entry.lock.withLock {
      (entry.pointee.generation, entry.pointee.isOwned, entry.awaited | direction.interest)
    }
    defer { if !isOwned { letGo(entry, descriptor) } }
    return try park(entry, direction, since: seen, generation, deadline, operation, isKept: false) {
      (reactor, _) throws(DescriptorFailure) in
      if isOwned {
        try reactor.rewatch(descriptor, bothDirections, generation: generation)
      } else {
        try reactor.watchOnce(descriptor, interest, generation: generation)
      }
    }
  }

  // MARK: - Our own descriptors

  /// Parks the running coroutine until an adopted descriptor becomes ready.
  ///
  /// - Parameters:
  ///   - entry: The descriptor's entry.
  ///   - descriptor: Its number.
  ///   - generation: What the number stood for when it was adopted; if it stands for something else now, the
  ///     wait ends as closed.
  ///   - direction: What for.
  ///   - seen: `entry.edges(direction)`, read before the call that would have blocked.
  ///   - deadline: When to give up, in nanoseconds of `clockNow()`.
  ///   - operation: For dumps.
  /// - Returns: How the wait ended; what ended it may be over when the caller looks.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  package static func wait(
    _ entry: UnsafeMutablePointer<DescriptorEntry>,
    _ descriptor: Int32,
    generation: UInt32,
    for direction: Direction,
    since seen: UInt32,
    deadline: Int64?,
    _ operation: StaticString
  ) throws -> Outcome {
    try park(entry, direction, since: seen, generation, deadline, operation, isKept: true) {
      (reactor, isOwn) throws(DescriptorFailure) in
      if isOwn {
        try reactor.watch(descriptor, direction, generation: generation)
      } else {
        try reactor.rewatch(descriptor, bothDirections, generation: generation)
      }
    }
  }

  // MARK: - Parking

  private static let bothDirections =
    DescriptorDirection.reading.interest | DescriptorDirection.writing.interest

  /// Parks until the descriptor is ready.
  ///
  /// `watch` has the reactor watch the descriptor; its second argument says that the reactor is the calling loop's
  /// own. It is not called if the descriptor is one that is kept watched (`isKept`), and is so by now.
  @inline(__always)
  private static func park(
    _ entry: UnsafeMutablePointer<DescriptorEntry>,
    _ direction: Direction,
    since seen: UInt32,
    _ generation: UInt32,
    _ deadline: Int64?,
    _ operation: StaticString,
    isKept: Bool,
    watch: (Reactor, Bool) throws(DescriptorFailure) -> Void
  ) throws -> Outcome {
    let thread = currentThread()
    let fiber = try Parking.begin(operation, thread)
    let home = fiber.pointee.home
    let polls = home.pointee.pollsDescriptors
    let lock = entry.lock
    var waiter = Waiter(fiber: fiber)
    // SAFETY: the node stays in this frame until the coroutine has been resumed (W3), and the timer, which
    // points to it, is disarmed before that.
    return try withUnsafeMutablePointer(to: &waiter) { waiter in
      waiter.pointee.queue = entry.queue(direction)
      waiter.pointee.lock = lock
      var mode = lock.acquire(thread)
      // D5.
      let isWatched = isKept && polls && entry.isWatched(by: home.pointee.watcher, for: direction)
      if !isWatched {
        lock.release(mode)
        do throws(DescriptorFailure) {
          if polls {
            try watch(try home.ownReactor(), true)
          } else {
            try watch(try Reactor.forOthers(), false)
          }
        } catch {
          // Files and directories are ready all the time.
          guard error == .notWatchable else { return .failed(error.code) }
          try Coroutine.yield()
          return .ready
        }
        mode = lock.acquire(thread)
      }
      // D4; and D2, for a number that stands for something else by now.
      let isClosed = entry.pointee.generation != generation
      if isClosed || entry.edges(direction) != seen {
        lock.release(mode)
        return isClosed ? .closed : .ready
      }
      entry.queue(direction).pointee.append(waiter)
      lock.release(mode)
      note(home, polls, 1)
      defer { note(home, polls, -1) }
      if let deadline {
        Timers.withTimer(at: deadline, home, timeOut, waiter) { fiber.park(thread, waiter) }
      } else {
        fiber.park(thread, waiter)
      }
      switch waiter.pointee.outcome {
      case .cancelled: throw CancellationError()
      case .closed: return .closed
      case .timedOut: return .timedOut
      case .delivered, .waiting: return .ready
      }
    }
  }

  /// A wait for a descriptor of others is over: unless others of this loop wait on, its reactor must not hold
  /// the open file.
  private static func letGo(_ entry: UnsafeMutablePointer<DescriptorEntry>, _ descriptor: Int32) {
    let thread = currentThread()
    guard let home = thread.currentHome, home.pointee.pollsDescriptors,
      let reactor = home.pointee.reactor?.takeUnretainedValue(), reactor.holdsFiles
    else { return }
    let mode = entry.lock.acquire(thread)
    let isAwaited = entry.isAwaited(by: home)
    entry.lock.release(mode)
    if !isAwaited { reactor.forget(descriptor) }
  }

  /// A timer of a wait has fired.
  private static func timeOut(_ timer: UnsafeMutablePointer<KernelTimer>) {
    guard let waiter = timer.pointee.context?.assumingMemoryBound(to: Waiter.self),
      waiter.withdraw(.timedOut), let fiber = waiter.pointee.fiber
    else { return }
    fiber.makeReady(currentThread())
  }

  /// Has the loop sleep in its reactor, or tells a scheduler with virtual time that somebody waits for the world
  /// outside.
  private static func note(_ home: UnsafeMutablePointer<Home>, _ polls: Bool, _ change: Int) {
    if polls {
      home.pointee.descriptorWaits += change
    } else {
      home.core.outsideWaits += change
    }
  }
}

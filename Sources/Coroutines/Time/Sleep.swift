// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel
public import Synchronization

extension Coroutine {
  /// Parks the calling coroutine for a time, in which others run.
  ///
  /// Zero or less gives up the turn like `yield`. Wakes up no earlier, and as much later as the
  /// scheduler is busy.
  ///
  /// *Cancellation:* ends the sleep at once.
  ///
  /// - Parameter duration: How long, by the clock of the coroutine's scheduler.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, write `try await Task.sleep(for:)`.")
  public static func sleep(for duration: Duration) throws {
    guard duration > .zero else { return try yield() }
    try Timers.sleep(
      until: CoroutineClock().now.advanced(by: duration).nanoseconds,
      "Coroutine.sleep(for:)"
    )
  }

  /// Parks the calling coroutine until a moment has come.
  ///
  /// *Cancellation:* ends the sleep at once.
  ///
  /// - Parameter deadline: When to go on, by the clock of the coroutine's scheduler. One that has
  ///   passed gives up the turn like `yield`.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, write `try await Task.sleep(until:)`.")
  public static func sleep(until deadline: CoroutineClock.Instant) throws {
    guard deadline > CoroutineClock().now else { return try yield() }
    try Timers.sleep(until: deadline.nanoseconds, "Coroutine.sleep(until:)")
  }

  /// Lets everything that is ready on this scheduler run first.
  ///
  /// A coroutine that computes calls it now and then, each few milliseconds or sooner. Timers and descriptors of an event
  /// loop have their turn when four yields, or a millisecond, have passed since they had it last, whichever is later.
  ///
  /// *Cancellation:* it is a park point even when nothing else is ready: it throws in cancelled code.
  ///
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable @inline(__always)
  @available(*, noasync, message: "In async code, write `await Task.yield()`.")
  public static func yield() throws {
    let thread = currentThread()
    let fiber = try Parking.begin("Coroutine.yield()", thread)
    fiber.pointee.phase.store(.ready, ordering: .relaxed)
    let home = fiber.pointee.home
    if home.pointee.migrates {
      postToQueue(fiber, home)
    } else {
      home.push(fiber)
      // Not each time: reading the counter takes a third of a turn.
      if home.pointee.handOvers & 3 == 0, home.isLookDue { home.pointee.handOvers = 0 }
    }
    fiber.switchOut(thread)
    if fiber.pointee.attention.load(ordering: .relaxed) { try Parking.refuseIfCancelled(fiber) }
  }

  /// Puts a coroutine that yields at the end of its dispatch queue.
  ///
  /// A block of its own, like a launch: behind the launches and plain blocks that wait now, which a loop of yields would
  /// otherwise starve for ever. It cannot run before the switch, because whoever runs this has the turn.
  @usableFromInline @inline(never)
  static func postToQueue(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ home: UnsafeMutablePointer<Home>
  ) {
    home.pointee.postFiber(UnsafeMutableRawPointer(home), UnsafeMutableRawPointer(fiber))
  }
}

/// Waiting for time.
package enum Timers {
  /// Parks until the deadline.
  static func sleep(until deadline: Int64, _ operation: StaticString) throws {
    let thread = currentThread()
    let fiber = try Parking.begin(operation, thread)
    var waiter = Waiter(fiber: fiber)
    // SAFETY: the node, and the timer that points to it, stay in this frame until the coroutine has
    // been resumed (W3) and the timer disarmed.
    try withUnsafeMutablePointer(to: &waiter) { waiter in
      withTimer(
        at: deadline,
        fiber.pointee.home,
        { timer in
          guard let waiter = timer.pointee.context?.assumingMemoryBound(to: Waiter.self),
            waiter.withdraw(.delivered), let fiber = waiter.pointee.fiber
          else { return }
          fiber.makeReady(currentThread())
        },
        waiter
      ) {
        fiber.park(thread, waiter)
      }
      if waiter.pointee.outcome == .cancelled { throw CancellationError() }
    }
  }

  /// Runs `body` with a timer armed, and disarms it afterwards.
  package static func withTimer<Result>(
    at deadline: Int64,
    _ home: UnsafeMutablePointer<Home>,
    _ fire: @escaping (UnsafeMutablePointer<KernelTimer>) -> Void,
    _ context: UnsafeMutableRawPointer?,
    _ body: () throws -> Result
  ) rethrows -> Result {
    var timer = KernelTimer(deadline: deadline, context: context, fire: fire)
    return try withUnsafeMutablePointer(to: &timer) { timer in
      arm(timer, home)
      defer { home.pointee.timers.disarm(timer) }
      return try body()
    }
  }

  /// Arms a timer, for the holder of the home's turn.
  @inline(__always)
  static func arm(_ timer: UnsafeMutablePointer<KernelTimer>, _ home: UnsafeMutablePointer<Home>) {
    let deadline = timer.pointee.deadline
    // Timers of one moment fire in the order of their arming: the moment is what they share.
    noteAccess(UnsafeRawPointer(bitPattern: Int(truncatingIfNeeded: deadline)))
    let isNearest = deadline < home.pointee.timers.nextLook ?? .max
    home.pointee.timers.arm(timer)
    if isNearest { home.withCore { $0.timersChanged() } }
  }
}

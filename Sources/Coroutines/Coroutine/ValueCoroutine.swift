// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// The handle of a coroutine whose body returns a value.
///
/// This is what `launch` returns; where the value is of no interest, treat it as a plain `Coroutine`.
public final class ValueCoroutine<Value>: Coroutine, @unchecked Sendable {
  // SAFETY: as for Coroutine; no state of its own, for the sake of its speed (see `ResultCell`).

  @usableFromInline
  required init(
    home: UnsafeMutablePointer<Home>,
    stackSize: StackSize,
    site: SourceSite,
    thread: ThreadRecord
  ) {
    super.init(home: home, stackSize: stackSize, site: site, thread: thread)
  }

  /// A coroutine that will run `work`: one that lies ready on this thread, or a new object.
  ///
  /// Its reference is the scheduler's.
  ///
  /// What depends on the type of the value is a few stores in the caller; all else is one function for all types, and not
  /// one for each, of which the compiler would merge those that are alike, behind a call that passes it their differences.
  @inlinable @inline(__always)
  package static func make(
    home: UnsafeMutablePointer<Home>,
    stackSize: StackSize,
    site: SourceSite,
    thread: ThreadRecord,
    work: consuming @escaping () throws -> Value
  ) -> UnsafeMutablePointer<Fiber> {
    let fiber = CoroutineMaking.make(self, home, stackSize, site, thread)
    keep(work, in: fiber)
    return fiber
  }

  /// The handle of one that `make` has made; see `makeHandle`.
  @inlinable @inline(__always)
  package static func handle(of fiber: UnsafeMutablePointer<Fiber>) -> ValueCoroutine {
    // SAFETY: of the class that was asked for.
    unsafeDowncast(makeHandle(of: fiber), to: ValueCoroutine.self)
  }

  /// Launches one on the scheduler of the code that calls this; see the function `launch`.
  @inlinable @inline(__always)
  static func launchHere(
    name: String?,
    stackSize: StackSize,
    start: LaunchStart,
    site: SourceSite,
    work: consuming @escaping () throws -> Value
  ) -> ValueCoroutine {
    let thread = currentThread()
    let fiber = Coroutines.launchHere(self, stackSize, site, thread, name == nil ? start : nil)
    keep(work, in: fiber)
    let coroutine = handle(of: fiber)
    if fiber.isBeside {
      if start == .immediately { thread.runningFiber.unsafelyUnwrapped.runAfter(fiber, thread) }
    } else {
      if let name { fiber.setName(name) }
      fiber.begin(start, thread.runningFiber, thread)
    }
    return coroutine
  }

  /// Notes what a coroutine of this class is to run.
  @inlinable @inline(__always)
  static func keep(
    _ work: consuming @escaping () throws -> Value,
    in fiber: UnsafeMutablePointer<Fiber>
  ) {
    fiber.work.initializeMemory(as: (() throws -> Value).self, to: work)
    let performer = Performer { coroutine, runs in
      // SAFETY: a closure of this type was put there, and this is called once.
      let work = coroutine.fiber.work.assumingMemoryBound(to: (() throws -> Value).self).move()
      guard runs else { return }
      let value: Value
      do {
        value = try work()
      } catch {
        ClosureBits(consume work).end()
        throw error
      }
      // Before anybody can see that there is a value.
      ClosureBits(consume work).end()
      coroutine.fiber.cell.store(value)
    }
    performer.keep(in: fiber.cell)
  }

  /// The value once finished; throws what the body threw.
  @inlinable
  package func outcome() throws -> Value {
    if !fiber.cell.holds(Value.self) { throw failureObserved() }
    return fiber.cell.load(as: Value.self)
  }
}

extension ValueCoroutine {
  /// Parks the calling coroutine until this one has finished, and returns its value.
  ///
  /// Returns without parking if it has finished already. Any number of coroutines may wait, on any
  /// schedulers; each gets the value.
  ///
  /// *Cancellation:* if the caller is cancelled meanwhile, only the caller's wait ends.
  ///
  /// - Returns: What the body returned.
  /// - Throws: What the body threw (`CancellationError` if it was cancelled); `CancellationError` if
  ///   the caller is cancelled; `CoroutineError` outside a coroutine or on itself.
  @inlinable
  @available(*, noasync, message: "In async code, write `try await coroutine.value()`.")
  public func value() throws -> Value {
    try waitForEnd("Coroutine.value()")
    return try outcome()
  }

  /// Suspends the calling task until this coroutine has finished, and returns its value.
  ///
  /// *Cancellation:* if the task is cancelled, the wait ends; the coroutine goes on.
  ///
  /// - Returns: What the body returned.
  /// - Throws: What the body threw, or `CancellationError` if the task is cancelled.
  @inlinable
  public func value() async throws -> Value {
    try await waitForEnd()
    return try outcome()
  }
}

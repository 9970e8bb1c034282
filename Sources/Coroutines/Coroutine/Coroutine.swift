// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
public import CoroutineKernel
public import Synchronization

/// A launched body of code that can wait without blocking its thread: the handle to it.
///
/// ```swift
/// let greeter = launch(name: "greeter") {
///   try Coroutine.sleep(for: .seconds(1))
///   return "hello"
/// }
/// print(try greeter.value())
/// ```
///
/// A coroutine is in one of four states:
///
/// | state | meaning | leaves it by |
/// |---|---|---|
/// | `ready` | launched or woken, in line on its scheduler | its turn |
/// | `running` | its body runs now | parking, or the end of its body |
/// | `suspended` | it waits for something, or for time | being woken |
/// | `finished` | its body has returned or thrown | – |
///
/// It runs on the scheduler that it was launched on and nowhere else. Dropping the handle changes
/// nothing: the coroutine runs on. An error that its body throws goes to those who call `join` or
/// `value`, to its scope, or, if there is neither, to the enclosing `runBlocking`, else to
/// `Coroutine.unobservedErrorHandler`.
///
/// Cost: one object of about 260 bytes and its closure until it starts, then a stack of which it commits what it
/// uses, one page at least.
public class Coroutine: @unchecked Sendable, CustomStringConvertible {
  // SAFETY: `storage` is only reached through `fiber` and keeps the rules F1 and F2; the body
  // and `extras` are written before the launch or by the home scheduler, and read by others once `phase` is
  // dead.

  /// The raw part: the first stored property, for `fiber` and for `owner` of a fiber.
  @exclusivity(unchecked)
  @usableFromInline
  final var storage: Fiber

  // The three flags lie in the word in which the fiber ends.

  /// Somebody has looked at the outcome, so an error has reached its receiver.
  @usableFromInline
  package final let isObserved = AtomicFlag()

  /// Cancellation has been asked for.
  @usableFromInline
  package final let cancellationRequest = AtomicFlag()

  /// A `CoroutineScope` waits for it: that of the list or the registry of children that it is in (N1).
  ///
  /// From its launch to its end.
  @exclusivity(unchecked)
  final var isScoped = false

  /// What only some coroutines have: a name, finish hooks, children elsewhere.
  @exclusivity(unchecked)
  @usableFromInline
  package final var extras: CoroutineExtras?

  @exclusivity(unchecked)
  @usableFromInline
  final var site: SourceSite

  /// Prepares a coroutine; `begin` hands it to its scheduler.
  @usableFromInline
  package required init(
    home: UnsafeMutablePointer<Home>,
    stackSize: StackSize,
    site: SourceSite,
    thread: ThreadRecord
  ) {
    self.site = site
    extras = nil
    storage = Fiber(
      home: home,
      stackClass: stackSize.stackClass,
      identifier: CoroutineIdentifiers.next(thread),
      thread: thread,
      body: runCoroutine
    )
  }

  /// Makes an ended coroutine that nobody else holds a new one, as `init` does.
  @inline(__always)
  final func renew(
    home: UnsafeMutablePointer<Home>,
    stackSize: StackSize,
    site: SourceSite,
    identifier: UInt64,
    thread: ThreadRecord
  ) {
    self.site = site
    // The three flags are in the word of the fiber's states.
    fiber.renew(
      home: home,
      stackClass: stackSize.stackClass,
      identifier: identifier,
      thread: thread,
      body: runCoroutine
    )
  }

  /// Lets go of everything that an ended coroutine holds, and reports an error that nobody looked at.
  @usableFromInline
  final func empty() {
    if fiber.cell.pointee.content == .error { reportUnobservedFailure() }
    fiber.cell.clear()
    extras = nil
  }

  deinit {
    empty()
    // One that has never begun is not what `renew` begins with.
    if fiber.pointee.phase.load(ordering: .relaxed) == .dead {
      let thread = currentThread()
      thread.coroutineMemory.keep(Unmanaged.passUnretained(self).toOpaque(), thread)
    }
  }

  /// The address of `storage`.
  @inlinable @inline(__always)
  package final var fiber: UnsafeMutablePointer<Fiber> {
    FiberOwner.fiber(of: Unmanaged.passUnretained(self).toOpaque())
  }

  /// The name, as C code can print it.
  package final var label: UnsafePointer<CChar>? { extras?.label.map { UnsafePointer($0) } }

  /// Runs the launched closure and stores its value, or only lets go of it.
  ///
  /// To be called once.
  @inline(__always)
  final func perform(runs: Bool) throws {
    try Performer.perform(from: fiber.cell, self, runs)
  }

  /// Lets go of the launched closure, which will not run.
  final func dropWork() {
    try? perform(runs: false)
  }

  /// The error that the body threw; valid once finished.
  package final var failure: (any Error)? { fiber.cell.pointee.failure }
}

extension Coroutine {
  /// The coroutine that runs this code, or nil outside any.
  public static var current: Coroutine? {
    guard let fiber = currentThread().runningFiber else { return nil }
    return fiber.coroutine
  }

  /// Where it was launched.
  public final var creationSite: SourceSite { site }

  /// A number that no other coroutine of this process has.
  public final var id: UInt64 { fiber.pointee.identifier }

  /// The name given at launch, if any.
  public final var name: String? { label.map { String(cString: $0) } }

  /// What a coroutine is doing.
  public enum State: Sendable, Hashable {
    /// In line on its scheduler.
    case ready
    /// Its body runs now.
    case running
    /// It waits.
    case suspended
    /// Its body has returned or thrown.
    case finished
  }

  /// What it is doing now.
  ///
  /// From another thread: what it was doing a moment ago, except that `finished` is final.
  public final var state: State {
    // Whoever wakes a coroutine changes it.
    noteAccess(nil)
    return switch fiber.pointee.phase.load(ordering: .acquiring) {
    case .ready: .ready
    case .running: .running
    case .suspended: .suspended
    case .ending, .dead: .finished
    }
  }

  /// Its body has returned or thrown.
  ///
  /// True in its finish hooks, too, which run before its joiners go on.
  public final var isFinished: Bool {
    preemptionPoint(.flag, fiber)
    let phase = fiber.pointee.phase.load(ordering: .acquiring)
    return phase == .dead || phase == .ending
  }

  /// It is finished, and its hooks have run: whoever joins goes on.
  package final var isOver: Bool {
    preemptionPoint(.flag, fiber)
    return fiber.isOver
  }

  /// Cancellation has been asked for, by `cancel` or through its parent.
  ///
  /// True from then on.
  public final var isCancelled: Bool { cancellationRequest.isSet }

  /// `coroutine #7 "fetch" (suspended)`.
  public final var description: String {
    "coroutine #\(id)\(name.map { " \"\($0)\"" } ?? "") (\(state))"
  }

  /// What only its own scheduler and those who launch it may change.
  @usableFromInline
  package final var requiredExtras: CoroutineExtras {
    if let extras { return extras }
    let made = CoroutineExtras()
    extras = made
    return made
  }
}

extension UnsafeMutablePointer where Pointee == Fiber {
  /// Its body has ended, and its hooks have run; what they have left behind is seen.
  @inlinable @inline(__always)
  var isOver: Bool { pointee.phase.load(ordering: .acquiring) == .dead }

  /// Calls `body` with the coroutine that this is part of, without counting it.
  ///
  /// The caller knows that it will not go away meanwhile.
  @inlinable @inline(__always)
  package func withCoroutine<Result>(_ body: (Coroutine) -> Result) -> Result {
    // SAFETY: as the caller says.
    Unmanaged<Coroutine>.fromOpaque(owner)._withUnsafeGuaranteedRef(body)
  }

  /// Where the launched closure is until it runs.
  @inlinable @inline(__always)
  var work: UnsafeMutableRawPointer { cell.room }

  /// The coroutine that this is part of.
  @inlinable
  package var coroutine: Coroutine {
    // SAFETY: a coroutine that has not ended is retained by its scheduler.
    Unmanaged<Coroutine>.fromOpaque(owner).takeUnretainedValue()
  }
}

/// Numbers for coroutines, drawn by each thread in blocks: no shared counter on the way of a launch.
package enum CoroutineIdentifiers {
  private static let blocks = Atomic<UInt64>(0)
  private static let blockSize: UInt64 = 1024

  /// The next number.
  @inline(__always)
  static func next(_ thread: ThreadRecord) -> UInt64 {
    if !isDrawn(thread) { drawBlock(thread) }
    return nextDrawn(thread)
  }

  /// There is one in the thread's block.
  @inline(__always)
  static func isDrawn(_ thread: ThreadRecord) -> Bool {
    thread.pointee.next_identifier != thread.pointee.last_identifier
  }

  /// The next one of the block.
  @inline(__always)
  static func nextDrawn(_ thread: ThreadRecord) -> UInt64 {
    thread.pointee.next_identifier &+= 1
    return thread.pointee.next_identifier
  }

  @inline(never)
  private static func drawBlock(_ thread: ThreadRecord) {
    let block = blocks.wrappingAdd(1, ordering: .relaxed).oldValue
    thread.pointee.next_identifier = block * blockSize
    thread.pointee.last_identifier = (block + 1) * blockSize
  }
}

// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
public import CoroutineKernel
import Synchronization
public import Dispatch

/// When a launched coroutine begins.
public enum LaunchStart: Sendable, Hashable {
  /// When its turn comes: after everything that is ready on its scheduler now.
  case queued
  /// At once, up to where it first parks, if the caller is where its scheduler runs coroutines; else
  /// as `queued`.
  case immediately
}

/// Starts a coroutine on the scheduler of the code that calls this.
///
/// That is the calling coroutine's own scheduler; outside a coroutine the event loop or dispatch queue
/// that runs this code, which on the main thread is the main queue; else one serial queue that the
/// whole process shares. The body runs later, in the order of launching, unless `start` says otherwise.
///
/// The closure needs no `@Sendable`: nothing on the same scheduler runs in parallel with it. (Called
/// from a thread that belongs to no scheduler, it does run in parallel with that thread: there, use
/// `launch(on:)`, which the compiler checks.)
///
/// A coroutine launched inside another is its child: cancelled with it, or with the `withTimeout`,
/// `withDeadline` or scope that it was launched in. It is not waited for; a scope does that.
///
/// - Parameters:
///   - name: For dumps, errors and overflow reports.
///   - stackSize: Address space for its stack; see `StackSize`.
///   - start: When it begins.
///   - file: Where it is launched; leave out.
///   - line: Where it is launched; leave out.
///   - body: What it does. What it throws goes to `join` and `value`.
/// - Returns: The handle. Dropping it changes nothing.
@inlinable @inline(__always)
@discardableResult
public func launch<Value>(
  name: String? = nil,
  stackSize: StackSize = .default,
  start: LaunchStart = .queued,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: consuming @escaping () throws -> Value
) -> ValueCoroutine<Value> {
  ValueCoroutine<Value>.launchHere(
    name: name,
    stackSize: stackSize,
    start: start,
    site: SourceSite(file: file, line: line),
    work: body
  )
}

/// Starts a coroutine on a given scheduler.
///
/// - Parameters:
///   - scheduler: Where it runs, from beginning to end.
///   - name: For dumps, errors and overflow reports.
///   - stackSize: Address space for its stack; see `StackSize`.
///   - start: When it begins.
///   - file: Where it is launched; leave out.
///   - line: Where it is launched; leave out.
///   - body: What it does. It may run in parallel with the caller, hence `sending`.
/// - Returns: The handle. If the scheduler has shut down, the coroutine ends at once with
///   `CoroutineError.schedulerShutDown`.
@inlinable
@discardableResult
@_disfavoredOverload  // `.current` is the other one's.
public func launch<Value>(
  on scheduler: Scheduler,
  name: String? = nil,
  stackSize: StackSize = .default,
  start: LaunchStart = .queued,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: consuming sending @escaping () throws -> Value
) -> ValueCoroutine<Value> {
  scheduler.core.launch(
    name,
    stackSize,
    start,
    SourceSite(file: file, line: line),
    body
  )
}

/// Starts a coroutine on a dispatch queue: its body and all that follows its waits run in blocks of
/// that queue, one at a time.
///
/// On a serial queue those blocks keep their order with the queue's other blocks. On a concurrent one
/// the coroutines still run one at a time, but beside the queue's other blocks.
///
/// - Parameters:
///   - queue: Where it runs, from beginning to end. Kept alive until the coroutine has finished.
///   - name: For dumps, errors and overflow reports.
///   - stackSize: Address space for its stack; see `StackSize`.
///   - start: When it begins.
///   - file: Where it is launched; leave out.
///   - line: Where it is launched; leave out.
///   - body: What it does. It may run in parallel with the caller, hence `sending`.
/// - Returns: The handle.
@inlinable
@discardableResult
public func launch<Value>(
  on queue: DispatchQueue,
  name: String? = nil,
  stackSize: StackSize = .default,
  start: LaunchStart = .queued,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: consuming sending @escaping () throws -> Value
) -> ValueCoroutine<Value> {
  SchedulerCore.ofQueue(queue).launch(
    name,
    stackSize,
    start,
    SourceSite(file: file, line: line),
    body
  )
}

extension SchedulerCore {
  /// Launches on this scheduler, from anywhere.
  @inlinable
  package final func launch<Value>(
    _ name: String?,
    _ stackSize: StackSize,
    _ start: LaunchStart,
    _ site: SourceSite,
    _ body: consuming @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    let thread = currentThread()
    let coroutine = ValueCoroutine<Value>.make(
      home: homeOfNext(thread),
      stackSize: stackSize,
      site: site,
      thread: thread,
      work: body
    )
    if let name { coroutine.setName(name) }
    begin(coroutine, start, thread)
    return coroutine
  }

  /// Where a coroutine that is launched on this scheduler is to begin.
  @usableFromInline
  final func homeOfNext(_ thread: ThreadRecord) -> UnsafeMutablePointer<Home> {
    guard let poolIdentity else { return home }
    if let current = thread.currentHome, current.pointee.pool == poolIdentity { return current }
    return homeForLaunch(thread)
  }

  /// Hands a coroutine that was launched on this scheduler to it.
  @usableFromInline
  final func begin(_ coroutine: Coroutine, _ start: LaunchStart, _ thread: ThreadRecord) {
    if isPool {
      coroutine.beginShared(.wide, start, thread.runningFiber, thread)
    } else {
      coroutine.begin(start, thread.runningFiber, thread)
    }
  }
}

extension Coroutine {
  /// Notes the name, in the form that the overflow report can print.
  @usableFromInline
  package final func setName(_ name: String) {
    var name = name
    requiredExtras.label = name.withUTF8 { bytes in
      let label = UnsafeMutableRawPointer.allocate(byteCount: bytes.count + 1, alignment: 1)
      if let start = bytes.baseAddress { label.copyMemory(from: start, byteCount: bytes.count) }
      label.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
      return label.bindMemory(to: CChar.self, capacity: bytes.count + 1)
    }
  }

  /// Hands the coroutine to its scheduler, as a child of `parent`.
  ///
  /// An event loop's own coroutine that launches another for later, in no scope, not cancelled and without locals: nothing
  /// but two links. That has no call in it, so that it keeps no registers either.
  @usableFromInline @inline(never)
  package final func begin(
    _ start: LaunchStart,
    _ parent: UnsafeMutablePointer<Fiber>?,
    _ thread: ThreadRecord
  ) {
    let fiber = fiber
    let home = fiber.pointee.home
    guard let parent, parent.pointee.home == home, home.pointee.isPlain else {
      return beginSlowly(start, parent, thread)
    }
    if start == .queued, parent.adoptsAtOnce {
      fiber.beginBeside(parent)
    } else {
      beginHere(start, parent, thread)
    }
  }

  /// The same in a scope, in cancelled code, with locals, or at once.
  @inline(never)
  private final func beginHere(
    _ start: LaunchStart,
    _ parent: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord
  ) {
    let home = fiber.pointee.home
    home.noteBegin()
    adopt(by: parent)
    switch start {
    case .queued: home.push(fiber)
    case .immediately: parent.runAfter(fiber, thread)
    }
  }

  /// Makes it a child of a coroutine of the same scheduler.
  @inline(__always)
  final func adopt(by parent: UnsafeMutablePointer<Fiber>) {
    if parent.pointee.scope == nil {
      FiberList.add(fiber, to: parent.children)
    } else {
      CancellationScope.innermost(parent)?.adopt(fiber)
    }
    // A child of cancelled code is born cancelled.
    if parent.pointee.attention.load(ordering: .relaxed), CancellationScope.isCancelled(parent) {
      _ = requestCancellation()
    }
    if parent.pointee.locals != nil { CoroutineLocals.inherit(from: parent, to: fiber) }
  }

  @inline(never)
  private final func beginSlowly(
    _ start: LaunchStart,
    _ parent: UnsafeMutablePointer<Fiber>?,
    _ thread: ThreadRecord
  ) {
    sendAway(thread)
    if let parent {
      if parent.pointee.home == fiber.pointee.home {
        adopt(by: parent)
      } else {
        becomeRemoteChild(of: parent)
      }
    }
    enqueue(start, parent, thread)
  }

  /// Hands the coroutine to a pool, whose loops may take it over until it starts.
  ///
  /// So it is a child elsewhere, even if it begins on its parent's loop.
  @usableFromInline
  final func beginShared(
    _ placement: Placement,
    _ start: LaunchStart,
    _ parent: UnsafeMutablePointer<Fiber>?,
    _ thread: ThreadRecord
  ) {
    sendAway(thread)
    place(placement)
    if let parent {
      // Neither in a scope nor cancelled, without locals, and not its first child of this kind.
      if parent.adoptsAtOnce, let registry = RemoteChildren.known(to: parent) {
        registry._withUnsafeGuaranteedRef { register(in: $0) }
      } else {
        becomeRemoteChild(of: parent)
      }
    }
    let home = fiber.pointee.home
    // By a coroutine of the pool, with nobody to be told, which only the home's own thread may look up.
    if start == .queued, thread.currentHome == home, home.pointee.isPlain,
      PoolLoop.offerHere(fiber, home)
    {
      return
    }
    enqueue(start, parent, thread, placement)
  }

  /// To be called before anybody else sees a coroutine that goes to a pool's list.
  @inline(__always)
  private final func place(_ placement: Placement) {
    if fiber.pointee.placement != placement { fiber.pointee.placement = placement }
  }

  /// To be called before anybody else sees a coroutine that may begin on another thread (F5).
  @inline(__always)
  private final func sendAway(_ thread: ThreadRecord) {
    let home = fiber.pointee.home
    if thread.currentHome != home || home.pointee.migrates || !Lock.biasPays(thread) {
      fiber.shareJoinLock()
    }
  }

  private final func becomeRemoteChild(of parent: UnsafeMutablePointer<Fiber>) {
    RemoteChildren.withInnermost(parent) { register(in: $0) }
    if parent.pointee.locals != nil { CoroutineLocals.inherit(from: parent, to: fiber) }
    if CancellationScope.isCancelled(parent) { _ = requestCancellation() }
  }

  /// Hands the coroutine to its scheduler, as a child of a scope.
  ///
  /// - Parameters:
  ///   - start: When it begins.
  ///   - scope: Where it is listed.
  ///   - isHere: In the list, because scheduler and caller are the scope's own (N1); else in the registry.
  ///   - placement: Unless pinned, it begins as `beginShared` has it.
  ///   - thread: The caller's.
  final func begin(
    _ start: LaunchStart,
    in scope: CancellationScope,
    isHere: Bool,
    _ placement: Placement,
    _ thread: ThreadRecord
  ) {
    let caller = thread.runningFiber
    place(placement)
    if isHere {
      scope.adopt(fiber)
    } else {
      sendAway(thread)
      register(in: scope.requiredRemoteChildren)
    }
    // Its own loop sees by the hint that nothing is (C2).
    let mayBeCancelled = scope.coroutine.fiber.pointee.attention.load(ordering: .relaxed)
    if mayBeCancelled || !isHere, scope.isCancelledHere { _ = requestCancellation() }
    if let caller, caller.pointee.locals != nil { CoroutineLocals.inherit(from: caller, to: fiber) }
    let home = fiber.pointee.home
    if isHere, start == .queued, home.pointee.isPlain {
      home.noteBegin()
      home.push(fiber)
    } else {
      enqueue(start, caller, thread, placement)
    }
  }

  @inline(__always)
  private final func register(in registry: RemoteChildren) {
    switch registry.add(fiber, isScoped: isScoped) {
    case .added: break
    case .addedToCancelled: _ = requestCancellation()
    case .tooLate: stopLateForScope()
    }
  }

  /// Puts a coroutine where its scheduler finds it.
  ///
  /// `caller` is the running coroutine.
  private final func enqueue(
    _ start: LaunchStart,
    _ caller: UnsafeMutablePointer<Fiber>?,
    _ thread: ThreadRecord,
    _ placement: Placement = .pinned
  ) {
    let fiber = fiber
    let home = fiber.pointee.home
    if Census.isOpen { Census.launches(self, by: caller, thread) }
    if isTracing { Recorder.launches(self, by: caller, thread) }
    home.withCore { $0.coroutineBegan(self) }
    if home.pointee.migrates { home.noteSent() }
    let isHome = thread.currentHome == home
    if start == .immediately {
      if isHome, let caller {
        if !home.pointee.migrates { home.noteBegin() }
        caller.runAfter(fiber, thread)
        return
      }
      if home.pointee.migrates {
        if home.core.startHere(fiber, thread) { return }
      }
    }
    if home.pointee.migrates {
      // Launching on a queue is always a block of its own, after the blocks that are there now.
      fiber.pointee.home.pointee.postFiber(
        UnsafeMutableRawPointer(home),
        UnsafeMutableRawPointer(fiber)
      )
    } else if isHome, placement == .pinned {
      home.noteBegin()
      home.push(fiber)
    } else if !(placement == .pinned
      ? home.postFirst(fiber) : home.withCore { $0.offer(fiber, thread) })
    {
      // SAFETY: takes the scheduler's reference back; no scheduler has the coroutine.
      Unmanaged.passUnretained(self).release()
      endUnlaunched()
    }
  }

  /// Ends a coroutine whose scheduler is gone.
  private final func endUnlaunched() {
    if Census.isOpen { Census.ended(id) }
    dropWork()
    fiber.cell.store(
      failure: CoroutineError.schedulerShutDown("\(self), launched at \(creationSite),")
    )
    if isTracing { Recorder.ends(self, currentThread()) }
    let scope = isScoped ? leaveScope() : nil
    if scope?.isHere ?? true { RemoteChildren.leave(fiber) }
    CoroutineLocals.drop(fiber)
    fiber.pointee.phase.store(.dead, ordering: .sequentiallyConsistent)
    scope?.note(endOf: fiber, failure)
  }
}

extension UnsafeMutablePointer where Pointee == Fiber {
  /// Has `other`, which has not started, run right now, and goes on right after it parks or ends.
  @usableFromInline
  func runAfter(_ other: UnsafeMutablePointer<Fiber>, _ thread: ThreadRecord) {
    let home = pointee.home
    pointee.phase.store(.ready, ordering: .relaxed)
    home.pushFront(self)
    if home.pointee.handOvers > 0, home.prepareFromPool(other, thread) {
      home.pointee.handOvers &-= 1
      switchOut(to: other, thread)
    } else {
      // Through the loop: it finds memory for the stack.
      home.pushFront(other)
      home.pointee.urgent &+= 2
      home.pointee.handOvers = 0
      switchOut(thread)
    }
  }
}

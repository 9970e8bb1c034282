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
    let fiber = ValueCoroutine<Value>.make(
      home: homeOfNext(thread),
      stackSize: stackSize,
      site: site,
      thread: thread,
      work: body
    )
    let coroutine = ValueCoroutine<Value>.handle(of: fiber)
    if let name { fiber.setName(name) }
    begin(fiber, start, thread)
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
  final func begin(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ start: LaunchStart,
    _ thread: ThreadRecord
  ) {
    if isPool {
      fiber.beginShared(.wide, start, thread.runningFiber, thread)
    } else {
      fiber.begin(start, thread.runningFiber, thread)
    }
  }
}

// A coroutine on its way to its scheduler: a fiber whose only reference that counts is the scheduler's (`CoroutineMaking`). Once it
// is in line, or in another thread's hands, nothing here touches it any more, unless it comes back: it may have run, and be gone.
extension UnsafeMutablePointer where Pointee == Fiber {
  /// Notes the name, in the form that the overflow report can print.
  @usableFromInline
  func setName(_ name: String) {
    var name = name
    let label = name.withUTF8 { bytes in
      let label = UnsafeMutableRawPointer.allocate(byteCount: bytes.count + 1, alignment: 1)
      if let start = bytes.baseAddress { label.copyMemory(from: start, byteCount: bytes.count) }
      label.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
      return label.bindMemory(to: CChar.self, capacity: bytes.count + 1)
    }
    withCoroutine { $0.requiredExtras.label = label }
  }

  /// Hands the coroutine to its scheduler, as a child of `parent`.
  ///
  /// An event loop's own coroutine that launches another for later, in no scope, not cancelled and without locals: nothing
  /// but two links. That has no call in it, so that it keeps no registers either.
  @usableFromInline @inline(never)
  func begin(
    _ start: LaunchStart,
    _ parent: UnsafeMutablePointer<Fiber>?,
    _ thread: ThreadRecord
  ) {
    let home = pointee.home
    guard let parent, parent.pointee.home == home, home.pointee.isPlain else {
      return beginSlowly(start, parent, thread)
    }
    if start == .queued, parent.adoptsAtOnce {
      beginBeside(parent, start)
    } else {
      beginHere(start, parent, thread)
    }
  }

  /// The same in a scope, in cancelled code, with locals, or at once.
  @inline(never)
  private func beginHere(
    _ start: LaunchStart,
    _ parent: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord
  ) {
    let home = pointee.home
    home.noteBegin()
    adopt(by: parent)
    switch start {
    case .queued: home.push(self)
    case .immediately: parent.runAfter(self, thread)
    }
  }

  /// Makes it a child of a coroutine of the same scheduler.
  @inline(__always)
  func adopt(by parent: UnsafeMutablePointer<Fiber>) {
    if parent.pointee.scope == nil {
      FiberList.add(self, to: parent.children)
    } else {
      CancellationScope.innermost(parent)?.adopt(self)
    }
    // A child of cancelled code is born cancelled.
    if parent.pointee.attention.load(ordering: .relaxed), CancellationScope.isCancelled(parent) {
      cancelBeforeItBegins()
    }
    if parent.pointee.locals != nil { CoroutineLocals.inherit(from: parent, to: self) }
  }

  @inline(never)
  private func beginSlowly(
    _ start: LaunchStart,
    _ parent: UnsafeMutablePointer<Fiber>?,
    _ thread: ThreadRecord
  ) {
    sendAway(thread)
    if let parent {
      if parent.pointee.home == pointee.home {
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
  func beginShared(
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
    let home = pointee.home
    // By a coroutine of the pool, with nobody to be told, which only the home's own thread may look up.
    if start == .queued, thread.currentHome == home, home.pointee.isPlain,
      PoolLoop.offerHere(self, home)
    {
      return
    }
    enqueue(start, parent, thread, placement)
  }

  /// To be called before anybody else sees a coroutine that goes to a pool's list.
  @inline(__always)
  private func place(_ placement: Placement) {
    if pointee.placement != placement { pointee.placement = placement }
  }

  /// To be called before anybody else sees a coroutine that may begin on another thread (F5).
  @inline(__always)
  private func sendAway(_ thread: ThreadRecord) {
    let home = pointee.home
    if thread.currentHome != home || home.pointee.migrates || !Lock.biasPays(thread) {
      shareJoinLock()
    }
  }

  private func becomeRemoteChild(of parent: UnsafeMutablePointer<Fiber>) {
    RemoteChildren.withInnermost(parent) { register(in: $0) }
    if parent.pointee.locals != nil { CoroutineLocals.inherit(from: parent, to: self) }
    if CancellationScope.isCancelled(parent) { cancelBeforeItBegins() }
  }

  /// Hands the coroutine to its scheduler, as a child of a scope.
  ///
  /// - Parameters:
  ///   - start: When it begins.
  ///   - scope: Where it is listed.
  ///   - isHere: In the list, because scheduler and caller are the scope's own (N1); else in the registry.
  ///   - placement: Unless pinned, it begins as `beginShared` has it.
  ///   - thread: The caller's.
  func begin(
    _ start: LaunchStart,
    in scope: CancellationScope,
    isHere: Bool,
    _ placement: Placement,
    _ thread: ThreadRecord
  ) {
    let caller = thread.runningFiber
    place(placement)
    if isHere {
      scope.adopt(self)
    } else {
      sendAway(thread)
      register(in: scope.requiredRemoteChildren)
    }
    // Its own loop sees by the hint that nothing is (C2).
    let mayBeCancelled = scope.coroutine.fiber.pointee.attention.load(ordering: .relaxed)
    if mayBeCancelled || !isHere, scope.isCancelledHere { cancelBeforeItBegins() }
    if let caller, caller.pointee.locals != nil { CoroutineLocals.inherit(from: caller, to: self) }
    let home = pointee.home
    if isHere, start == .queued, home.pointee.isPlain {
      home.noteBegin()
      home.push(self)
    } else {
      enqueue(start, caller, thread, placement)
    }
  }

  @inline(__always)
  private func register(in registry: RemoteChildren) {
    switch registry.add(self, isScoped: withCoroutine { $0.isScoped }) {
    case .added: break
    case .addedToCancelled: cancelBeforeItBegins()
    case .tooLate: withCoroutine { $0.stopLateForScope() }
    }
  }

  @inline(never)
  private func cancelBeforeItBegins() {
    withCoroutine { _ = $0.requestCancellation() }
  }

  /// Puts a coroutine where its scheduler finds it.
  ///
  /// `caller` is the running coroutine.
  private func enqueue(
    _ start: LaunchStart,
    _ caller: UnsafeMutablePointer<Fiber>?,
    _ thread: ThreadRecord,
    _ placement: Placement = .pinned
  ) {
    let home = pointee.home
    withCoroutine { coroutine in
      if Census.isOpen { Census.launches(coroutine, by: caller, thread) }
      if isTracing { Recorder.launches(coroutine, by: caller, thread) }
      home.withCore { $0.coroutineBegan(coroutine) }
    }
    if home.pointee.migrates { home.noteSent() }
    let isHome = thread.currentHome == home
    if start == .immediately {
      if isHome, let caller {
        if !home.pointee.migrates { home.noteBegin() }
        caller.runAfter(self, thread)
        return
      }
      if home.pointee.migrates {
        if home.core.startHere(self, thread) { return }
      }
    }
    if home.pointee.migrates {
      // Launching on a queue is always a block of its own, after the blocks that are there now.
      home.pointee.postFiber(UnsafeMutableRawPointer(home), UnsafeMutableRawPointer(self))
    } else if isHome, placement == .pinned {
      home.noteBegin()
      home.push(self)
    } else if !(placement == .pinned
      ? home.postFirst(self) : home.withCore { $0.offer(self, thread) })
    {
      // SAFETY: takes the scheduler's reference back; no scheduler has the coroutine. It may be the only one, and the end goes on by
      // address after it has named the object for the last time.
      let coroutine = Unmanaged<Coroutine>.fromOpaque(owner).takeRetainedValue()
      withExtendedLifetime(coroutine) { coroutine.endUnlaunched() }
    }
  }

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

extension Coroutine {
  /// Ends a coroutine whose scheduler is gone.
  fileprivate final func endUnlaunched() {
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
    if let scope { tell(scope) }
  }
}

// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import Synchronization

/// A function without context, as the raw structures keep them.
@usableFromInline package typealias KernelFunction =
  @convention(c) (UnsafeMutableRawPointer) -> Void

/// What an inbox links together: a coroutine to make ready, or a job to do.
@usableFromInline
package struct InboxLink {
  /// The next one; in a run queue the next coroutine's link.
  @usableFromInline package var next: UnsafeMutablePointer<InboxLink>?
  /// The job; nil means that this is the link of a `Fiber`.
  @usableFromInline package var perform: KernelFunction?

  /// A link on its own.
  @inlinable @inline(__always)
  package init(perform: KernelFunction? = nil) {
    self.next = nil
    self.perform = perform
  }
}

/// Where a coroutine is in its life; the four states of the ancestors.
@usableFromInline
package enum FiberPhase: UInt8 {
  /// Made, or woken, and in a run queue or on its way to one.
  case ready
  /// Its body runs now.
  case running
  /// Parked.
  case suspended
  /// Its body has ended, and all that its end entails before others go on has been done.
  case dead
  /// Its body has ended, and its finish hooks are called.
  case ending
}

/// As what is derived for enumerations, but without a test that a loaded byte is one of the phases.
extension FiberPhase: AtomicRepresentable {
  @usableFromInline package typealias AtomicRepresentation = UInt8.AtomicRepresentation

  @inlinable @inline(__always)
  package static func encodeAtomicRepresentation(
    _ value: consuming FiberPhase
  ) -> AtomicRepresentation {
    UInt8.encodeAtomicRepresentation(value.rawValue)
  }

  @inlinable @inline(__always)
  package static func decodeAtomicRepresentation(
    _ storage: consuming AtomicRepresentation
  ) -> FiberPhase {
    // SAFETY: what was encoded, and a phase is its raw value: they are numbered from 0 in their order (FiberLayoutTests).
    unsafeBitCast(UInt8.decodeAtomicRepresentation(storage), to: FiberPhase.self)
  }
}

/// The first of a list of children; touched only on their common home scheduler.
///
/// Of that one `previousSibling` is of no meaning, so that it need not be written.
@usableFromInline
package struct FiberList {
  @usableFromInline package var first: UnsafeMutablePointer<Fiber>?

  /// An empty list.
  @inlinable @inline(__always)
  package init() { first = nil }

  /// Adds a coroutine at the front.
  @inlinable @inline(__always)
  package static func add(
    _ fiber: UnsafeMutablePointer<Fiber>,
    to list: UnsafeMutablePointer<FiberList>
  ) {
    fiber.pointee.siblings = list
    fiber.pointee.nextSibling = list.pointee.first
    if let first = list.pointee.first { first.pointee.previousSibling = fiber }
    list.pointee.first = fiber
  }

  /// Takes a coroutine out of the list it is in, if it is in one.
  @inlinable @inline(__always)
  package static func remove(_ fiber: UnsafeMutablePointer<Fiber>) {
    guard let list = fiber.pointee.siblings else { return }
    fiber.pointee.siblings = nil
    let next = fiber.pointee.nextSibling
    // As numbers: optionals would be compared with nil, too.
    guard UInt(bitPattern: list.pointee.first) != UInt(bitPattern: fiber) else {
      list.pointee.first = next
      return
    }
    let previous = fiber.pointee.previousSibling
    // SAFETY: whoever is in a list and not its first has one before it.
    previous.unsafelyUnwrapped.pointee.nextSibling = next
    if let next { next.pointee.previousSibling = previous }
  }

  /// Moves all of `list` to the front of `other`, or to no list at all.
  package static func move(
    _ list: UnsafeMutablePointer<FiberList>,
    to other: UnsafeMutablePointer<FiberList>?
  ) {
    while let fiber = list.pointee.first {
      remove(fiber)
      if let other { add(fiber, to: other) }
    }
  }
}

/// The raw part of a coroutine: everything that a scheduler and a waker touch.
///
/// Invariants:
/// - F1. Except for `phase`, `attention`, `joinLock` and `joiners`, only the home scheduler touches
///   it: the coroutine itself, or whoever holds its home's turn.
/// - F2. It is in at most one of: a run queue, an inbox, the CPU, a wait. So one link is enough.
/// - F3. `stack` is nil until its first run and from its end on.
/// - F4. What runs its body is asked for once, when it starts; since when it is parked is asked of suspended ones only.
///   So one word is enough.
/// - F5. `joinLock` is biased to the thread that launches only where the coroutine begins on that thread: else its
///   end, elsewhere, would have to take the bias away, which takes microseconds.
@usableFromInline
package struct Fiber: ~Copyable {
  /// Link in a run queue or an inbox.
  ///
  /// First field: a link's address is its fiber's. The next four have accessors that compute their
  /// addresses from this order: taking the address of a field in Swift counts as writing to it, and
  /// other threads look at these.
  @usableFromInline package var link: InboxLink
  /// Guards `joiners` and the transition to dead.
  @usableFromInline package var joinLock: cck_lock_t
  /// Those who wait for the end.
  @usableFromInline package var joiners: WaitQueue
  /// Coroutines launched by this one, outside any scope, on the same scheduler.
  @usableFromInline package var children: FiberList
  /// What the body returned or threw; valid once dead.
  @usableFromInline package var cell: ResultCell
  /// Mutexes that it holds by `lock`, which need not end before it does; see `LocksByHand`.
  ///
  /// Lies in the word in which the cell ends.
  @usableFromInline package var locksByHand: UInt32
  /// The home of the scheduler it runs on; see `home`.
  ///
  /// Never nil; to load it as what may be nil leaves out a test for that each time.
  @usableFromInline let homeWord: Atomic<UnsafeMutablePointer<Home>?>
  /// Its stack and saved context.
  @usableFromInline package var stack: UnsafeMutablePointer<cck_stack_t>?
  /// `body` until it has started, `parkedAt` from its first wait on (F4).
  @usableFromInline var bodyOrTime: UInt64
  /// The wait that cancellation may withdraw, if it is parked in one: it counts while the coroutine is suspended.
  @usableFromInline package var waiter: UnsafeMutablePointer<Waiter>?
  /// What it was called for by the code that parked it: a static string, for people.
  @usableFromInline package var operation: UnsafePointer<UInt8>?
  /// The object that it waits for, if one told; not retained, since whoever parks holds it.
  ///
  /// Like `operation` it counts while the coroutine is suspended.
  @usableFromInline package var waitsOn: UnsafeMutableRawPointer?
  /// The innermost cancellation scope it is in; retained by the code inside that scope.
  @usableFromInline package var scope: UnsafeMutableRawPointer?
  /// Coroutine-local bindings in force; retained.
  @usableFromInline package var locals: UnsafeMutableRawPointer?
  /// The list of children that this is in.
  @usableFromInline package var siblings: UnsafeMutablePointer<FiberList>?
  /// The registry of children elsewhere that this is in; retained.
  ///
  /// While it is in one, the next two are guarded by the registry's lock.
  @usableFromInline package var registry: UnsafeMutableRawPointer?
  @usableFromInline package var nextSibling: UnsafeMutablePointer<Fiber>?
  @usableFromInline package var previousSibling: UnsafeMutablePointer<Fiber>?
  /// Number of the coroutine, for people.
  @usableFromInline package var identifier: UInt64
  /// First of the eight bytes of `states`, with the next four and the first three behind the fiber.
  @usableFromInline var shortStackClass: UInt8
  /// As it was launched; of no meaning in what has never been in a list of unstarted ones.
  @usableFromInline package var placement: Placement
  /// It lies in its home's list of unstarted coroutines (U1).
  @usableFromInline let unclaimed: Atomic<Bool>
  /// Observable state.
  @usableFromInline package let phase: Atomic<FiberPhase>
  /// Cancellation has been asked for, somewhere: look before parking.
  ///
  /// See `CancellationScope`.
  @usableFromInline package let attention: Atomic<Bool>

  /// A coroutine that has not started.
  @inlinable @inline(__always)
  package init(
    home: UnsafeMutablePointer<Home>,
    stackClass: UInt32,
    identifier: UInt64,
    thread: ThreadRecord,
    body: @escaping KernelFunction
  ) {
    self.link = InboxLink()
    self.cell = ResultCell()
    self.locksByHand = 0
    self.homeWord = Atomic(home)
    self.stack = nil
    self.bodyOrTime = Self.word(for: body)
    self.waiter = nil
    self.operation = nil
    self.waitsOn = nil
    self.scope = nil
    self.locals = nil
    self.children = FiberList()
    self.siblings = nil
    self.registry = nil
    self.nextSibling = nil
    self.previousSibling = nil
    self.identifier = identifier
    self.shortStackClass = UInt8(truncatingIfNeeded: stackClass)
    self.placement = .pinned
    self.unclaimed = Atomic(false)
    self.phase = Atomic(.ready)
    self.attention = Atomic(false)
    self.joinLock = cck_lock_make_owned(thread)
    self.joiners = WaitQueue()
  }
}

extension Fiber {
  @inlinable @inline(__always)
  static func word(for body: KernelFunction) -> UInt64 {
    // SAFETY: a function without a context is one pointer.
    UInt64(UInt(bitPattern: unsafeBitCast(body, to: UnsafeRawPointer.self)))
  }

  /// Class of the stack it will get; see cck_stack.h.
  @inlinable @inline(__always)
  package var stackClass: UInt32 {
    get { UInt32(shortStackClass) }
    set { shortStackClass = UInt8(truncatingIfNeeded: newValue) }
  }

  /// What `states` shows of one that has not begun: only its class of stacks is not 0.
  @inlinable @inline(__always)
  static func statesAtFirst(_ stackClass: UInt32) -> UInt64 { UInt64(stackClass) }

  /// The home of the scheduler it runs on.
  ///
  /// Constant once it has started. Before that a loop of the same pool may take it over (U1), so others
  /// must be ready to be told an earlier one.
  @inlinable @inline(__always)
  package var home: UnsafeMutablePointer<Home> {
    // SAFETY: never nil, as it says.
    get { homeWord.load(ordering: .relaxed).unsafelyUnwrapped }
    nonmutating set { homeWord.store(newValue, ordering: .relaxed) }
  }

  /// Gives it to a loop that takes it over.
  func move(to home: UnsafeMutablePointer<Home>) { homeWord.store(home, ordering: .releasing) }

  /// Its home is this one, and what its taker did before it gave it there is seen.
  func hasMoved(to home: UnsafeMutablePointer<Home>) -> Bool {
    homeWord.load(ordering: .acquiring) == home
  }
}

extension UnsafeMutablePointer where Pointee == Fiber {
  // Of the pointer, because what Swift calls a change of a computed property counts as one of the whole fiber.

  /// Runs the body; when it returns, this memory may be gone.
  ///
  /// - Precondition: It has not started.
  var body: KernelFunction {
    // SAFETY: as long as it has not started, the word is what `word(for:)` has made of one (F4).
    unsafeBitCast(UInt(truncatingIfNeeded: pointee.bodyOrTime), to: KernelFunction.self)
  }

  /// What its home's clock showed at its last look before this parked; see `Home.lookedAt`.
  ///
  /// - Precondition: It is suspended.
  package var parkedAt: Int64 { Int64(bitPattern: pointee.bodyOrTime) }

  /// Makes an ended one, whose cell has been cleared, as `init` would.
  ///
  /// The other fields are at the end what they were at the beginning; and so are most of these, in launch after launch:
  /// to look costs less than to store, of which many processors commit no more than one in a cycle.
  @inlinable @inline(__always)
  package func renew(
    home: UnsafeMutablePointer<Home>,
    stackClass: UInt32,
    identifier: UInt64,
    thread: ThreadRecord,
    body: KernelFunction
  ) {
    if pointee.home != home { pointee.home = home }
    let body = Fiber.word(for: body)
    if pointee.bodyOrTime != body { pointee.bodyOrTime = body }
    pointee.identifier = identifier
    states.pointee = Fiber.statesAtFirst(stackClass)
    cck_lock_renew_owned(joinLock, thread)
  }

  /// Has `joinLock` belong to no thread from the start (F5).
  ///
  /// - Precondition: Nobody else knows the coroutine yet.
  package func shareJoinLock() { joinLock.pointee = cck_lock_make_shared() }

  /// Puts a coroutine that is not running at the end of its home's run queue, from anywhere.
  @inlinable @inline(__always)
  package func makeReady(_ thread: ThreadRecord) {
    if !makeReadyHere(thread) { makeReadyElsewhere(pointee.home, thread) }
  }

  /// The same if that is this thread's home, and its wakes need nobody's notice.
  ///
  /// - Returns: False if not; then it has done nothing.
  @inlinable @inline(__always)
  func makeReadyHere(_ thread: ThreadRecord) -> Bool {
    let home = pointee.home
    // As numbers: optionals would be compared with nil, too.
    guard UInt(bitPattern: thread.pointee.direct_home) == UInt(bitPattern: home) else {
      return false
    }
    pointee.phase.store(.ready, ordering: .relaxed)
    home.push(self)
    return true
  }

  /// Parks the running coroutine until its waiter is resumed.
  ///
  /// The caller has made the wait visible and left every lock. Nobody can run this coroutine before
  /// it has switched out: only its home does, and its home is the thread that executes this.
  @inlinable @inline(__always)
  package func park(_ thread: ThreadRecord, _ waiter: UnsafeMutablePointer<Waiter>?) {
    pointee.waiter = waiter
    pointee.bodyOrTime = UInt64(bitPattern: pointee.home.pointee.lookedAt)
    pointee.phase.store(.suspended, ordering: .relaxed)
    switchOut(thread)
  }

  /// Gives the processor to the next ready coroutine directly, else to the home's own loop.
  @inlinable @inline(__always)
  package func switchOut(_ thread: ThreadRecord) {
    let home = pointee.home
    if let next = home.popForHandOver(thread) {
      switchOut(to: next, thread)
    } else {
      // SAFETY: a running coroutine has a stack (F3).
      _ = cck_context_switch(pointee.stack.unsafelyUnwrapped.context, home.context, nil)
    }
  }

  /// Gives the processor to a coroutine that has a stack, and has been taken out of the run queue.
  @inlinable @inline(__always)
  package func switchOut(to next: UnsafeMutablePointer<Fiber>, _ thread: ThreadRecord) {
    thread.runningFiber = next
    next.pointee.phase.store(.running, ordering: .relaxed)
    _ = cck_context_switch(
      // SAFETY: a running coroutine has a stack (F3), and so has the next one, says the caller.
      pointee.stack.unsafelyUnwrapped.context,
      next.pointee.stack.unsafelyUnwrapped.context,
      next
    )
  }
}

/// Objects that begin with a fiber.
@usableFromInline
package enum FiberOwner {
  /// Bytes of a Swift object in front of its first stored property: its class and its counts.
  @inlinable @inline(__always)
  package static var headerSize: Int { 2 * MemoryLayout<UInt>.size }

  /// The fiber that is the first stored property of an object of a class without a superclass.
  @inlinable @inline(__always)
  package static func fiber(of object: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Fiber> {
    // SAFETY: such a class puts its first property right behind the header, whose size is a multiple of the
    // property's alignment (CoroutineLayoutTests).
    (object + headerSize).assumingMemoryBound(to: Fiber.self)
  }
}

extension UnsafeMutablePointer where Pointee == Fiber {
  /// The `Coroutine` that this is part of; not retained here.
  @inlinable @inline(__always)
  package var owner: UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(self) - FiberOwner.headerSize
  }

  /// The address of `joinLock`.
  @inlinable @inline(__always)
  package var joinLock: UnsafeMutablePointer<Lock> {
    // SAFETY: second field, after one whose stride is a multiple of its alignment (FiberLayoutTests).
    (UnsafeMutableRawPointer(self) + MemoryLayout<InboxLink>.stride)
      .assumingMemoryBound(to: Lock.self)
  }

  /// The address of `joiners`.
  @inlinable @inline(__always)
  package var joiners: UnsafeMutablePointer<WaitQueue> {
    // SAFETY: third field; as above.
    (UnsafeMutableRawPointer(joinLock) + MemoryLayout<Lock>.stride)
      .assumingMemoryBound(to: WaitQueue.self)
  }

  /// The address of `children`.
  @inlinable @inline(__always)
  package var children: UnsafeMutablePointer<FiberList> {
    // SAFETY: fourth field; as above.
    (UnsafeMutableRawPointer(joiners) + MemoryLayout<WaitQueue>.stride)
      .assumingMemoryBound(to: FiberList.self)
  }

  /// The fields of a byte each with which the fiber ends, and those of its owner behind them, as one word: to make all of them
  /// new is one store.
  ///
  /// For who has the fiber to himself.
  @inlinable @inline(__always)
  package var states: UnsafeMutablePointer<UInt64> {
    // SAFETY: the word behind `identifier`, all of it inside the owner (CoroutineLayoutTests). Each of the bytes is 0 where it
    // is first or false; the first byte is the lowest on all processors that there are kernels for.
    (UnsafeMutableRawPointer(self) + (MemoryLayout<Fiber>.size & ~7)).assumingMemoryBound(
      to: UInt64.self
    )
  }

  /// The address of `cell`.
  @inlinable @inline(__always)
  package var cell: UnsafeMutablePointer<ResultCell> {
    // SAFETY: fifth field; as above.
    (UnsafeMutableRawPointer(children) + MemoryLayout<FiberList>.stride)
      .assumingMemoryBound(to: ResultCell.self)
  }
}

extension UnsafeMutablePointer where Pointee == cck_stack_t {
  /// The address of the saved context: the record's first field.
  @inlinable @inline(__always)
  package var context: UnsafeMutablePointer<cck_context_t> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: cck_context_t.self)
  }
}

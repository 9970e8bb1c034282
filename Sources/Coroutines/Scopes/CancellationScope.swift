// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
public import CoroutineKernel
import Synchronization

/// A stretch of one coroutine's code that can be cancelled, or shielded, by itself.
///
/// Scopes nest like the calls that open them. The code inside is cancelled when a scope it is in is,
/// looking outwards up to the nearest shield; without a shield, also when the coroutine is.
///
/// Invariants:
/// - C1. `fiber.scope` is the innermost open scope; `parent` leads outwards. Only the home scheduler
///   changes them.
/// - C2. `fiber.attention` is true whenever a scope of the chain, or the coroutine, is cancelled. (It
///   may be true a little longer, and while events are recorded: it is a hint to look.)
@usableFromInline
package final class CancellationScope: @unchecked Sendable {
  // SAFETY: `cancelled` is atomic; everything else belongs to the home scheduler (C1).

  /// A list of children, and the `CoroutineScope` that waits for those whose `isScoped` is set.
  struct Children {
    // First field, for `waiting(for:)`.
    fileprivate var list = FiberList()
    /// Not retained (N2).
    fileprivate var waiting: Unmanaged<CoroutineScope>?
  }

  /// First stored property, for `children`.
  @exclusivity(unchecked)
  final var ownChildren = Children()

  /// The coroutine whose code this is.
  ///
  /// The scope is closed before the coroutine ends.
  package let coroutine: Coroutine
  // SAFETY: the scopes around this one are kept until they are closed, which is later.
  private let parent: Unmanaged<CancellationScope>?
  private let isShield: Bool
  private let cancelled = AtomicFlag()
  private var remoteChildren: RemoteChildren?
  private var isOpen = true

  private init(_ fiber: UnsafeMutablePointer<Fiber>, isShield: Bool) {
    self.coroutine = fiber.coroutine
    // SAFETY: `open` has put it there, and it is not closed yet.
    self.parent = fiber.pointee.scope.map { Unmanaged.fromOpaque($0) }
    self.isShield = isShield
  }

  /// The address of `ownChildren`, whose first field is the list.
  ///
  /// By address, because what Swift calls an access to the property would be one of the list, too.
  final var children: UnsafeMutablePointer<FiberList> {
    // SAFETY: such a class puts its first property right behind the header, whose size is a multiple of the
    // property's alignment (ScopeLayoutTests).
    (Unmanaged.passUnretained(self).toOpaque() + FiberOwner.headerSize)
      .assumingMemoryBound(to: FiberList.self)
  }

  /// Says who waits for the children that are its own.
  final func setWaiting(_ scope: CoroutineScope) {
    let scope = Unmanaged.passUnretained(scope)
    ownChildren.waiting = scope
    requiredRemoteChildren.waiting = scope
  }

  /// Who waits for a child that is listed in a scope.
  static func waiting(
    for list: UnsafeMutablePointer<FiberList>
  ) -> Unmanaged<CoroutineScope>? {
    // SAFETY: the list of a scope is the first field of its `ownChildren`.
    UnsafeMutableRawPointer(list).assumingMemoryBound(to: Children.self).pointee.waiting
  }

  // MARK: - Opening and closing

  /// Opens a scope of the running coroutine, in the innermost one.
  ///
  /// - Returns: The scope, with a reference to be released once it is closed.
  @usableFromInline
  package static func open(
    _ fiber: UnsafeMutablePointer<Fiber>,
    isShield: Bool = false
  ) -> Unmanaged<CancellationScope> {
    let scope = Unmanaged.passRetained(CancellationScope(fiber, isShield: isShield))
    // SAFETY: `close` takes the pointer out again, before that reference is released.
    fiber.pointee.scope = scope.toOpaque()
    return scope
  }

  /// Closes the innermost scope of the running coroutine, which is this one.
  @usableFromInline
  package func close() {
    let fiber = coroutine.fiber
    isOpen = false
    if cancelled.isSet {
      // A cancellation from elsewhere is carried out by a message, which the code may have overtaken.
      var reached: [UnsafeMutablePointer<Fiber>] = []
      cancelChildren(&reached)
      Self.carryOut(&reached, from: 0)
    }
    fiber.pointee.scope = parent?.toOpaque()
    // Children that were not waited for now belong to the code around.
    let outer = parent?.takeUnretainedValue()
    FiberList.move(
      children,
      to: outer?.children ?? fiber.children
    )
    if let remoteChildren, !remoteChildren.isEmpty {
      Self.remember(remoteChildren, outer, coroutine)
    }
    if Self.clearHint(fiber) {
      // A shield held the cancellation off the children, too. They are in the list around it now; what
      // is in the lists further out the cancellation has reached already, or does not concern.
      if isShield, Self.isCancelled(fiber) {
        var reached: [UnsafeMutablePointer<Fiber>] = []
        if let outer {
          outer.cancelChildren(&reached)
        } else {
          Self.cancelBareChildren(of: fiber, &reached)
        }
        Self.carryOut(&reached, from: 0)
      }
    }
  }

  /// Takes `attention` back, unless something in the chain is cancelled.
  ///
  /// - Returns: Something is.
  @discardableResult
  static func clearHint(_ fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    // It is cleared first, so that a cancellation that comes in between is not lost.
    preemptionPoint(.flag, fiber)
    fiber.pointee.attention.store(isTracing, ordering: .sequentiallyConsistent)
    preemptionPoint(.flag, fiber)
    guard isAnyCancelled(fiber) else { return false }
    fiber.pointee.attention.store(true, ordering: .sequentiallyConsistent)
    return true
  }

  private static func remember(
    _ inner: RemoteChildren,
    _ outer: CancellationScope?,
    _ coroutine: Coroutine
  ) {
    let known = outer == nil ? coroutine.extras?.remoteChildren : outer?.remoteChildren
    if let known { return known.join(inner) }
    var registry = inner
    if inner.hasBeenCancelled {
      // What the code around launches later has not been, so it needs a registry of its own.
      registry = RemoteChildren()
      registry.join(inner)
    }
    if let outer {
      outer.remoteChildren = registry
    } else {
      coroutine.requiredExtras.remoteChildren = registry
    }
  }

  /// The innermost scope that a coroutine is in.
  @usableFromInline
  package static func innermost(_ fiber: UnsafeMutablePointer<Fiber>) -> CancellationScope? {
    // SAFETY: an open scope is alive (C1).
    fiber.pointee.scope.map {
      Unmanaged<CancellationScope>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Makes a coroutine of the same scheduler a child of this scope; whether it is cancelled is for the
  /// caller to see to.
  @usableFromInline
  package func adopt(_ child: UnsafeMutablePointer<Fiber>) {
    FiberList.add(child, to: children)
  }

  /// Calls `body` with all that a coroutine's children may be listed in: what `siblings`, or `registry`, of a
  /// child is.
  ///
  /// The caller has the home's turn.
  static func forEachListOfChildren(
    of fiber: UnsafeMutablePointer<Fiber>,
    _ body: (UnsafeMutableRawPointer) -> Void
  ) {
    func note(_ registry: RemoteChildren?) {
      if let registry { body(Unmanaged.passUnretained(registry).toOpaque()) }
    }
    body(UnsafeMutableRawPointer(fiber.children))
    note(fiber.coroutine.extras?.remoteChildren)
    var scope = innermost(fiber)
    while let current = scope {
      body(UnsafeMutableRawPointer(current.children))
      note(current.remoteChildren)
      scope = current.parent?.takeUnretainedValue()
    }
  }

  // MARK: - Asking

  /// This very scope has been cancelled.
  package var isCancelled: Bool { cancelled.isSet }

  /// Code in this scope, and in no scope inside it, is cancelled.
  ///
  /// May be read from any thread.
  package var isCancelledHere: Bool {
    var scope = self
    while true {
      if scope.cancelled.isSet { return true }
      if scope.isShield { return false }
      guard let outer = scope.parent?.takeUnretainedValue() else {
        return coroutine.cancellationRequest.isSet
      }
      scope = outer
    }
  }

  /// The code that the coroutine runs now is cancelled.
  @usableFromInline
  package static func isCancelled(_ fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    innermost(fiber)?.isCancelledHere ?? fiber.withCoroutine { $0.cancellationRequest.isSet }
  }

  /// Anything in the chain is cancelled, shielded or not.
  private static func isAnyCancelled(_ fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    var scope = innermost(fiber)
    while let current = scope {
      if current.cancelled.isSet { return true }
      scope = current.parent?.takeUnretainedValue()
    }
    return fiber.withCoroutine { $0.cancellationRequest.isSet }
  }

  // MARK: - Cancelling

  /// Cancels the code in this scope, and its children.
  ///
  /// Can be called from any thread.
  package func cancel() {
    let fiber = coroutine.fiber
    preemptionPoint(.flag, fiber)
    guard cancelled.setFirst() else { return }
    preemptionPoint(.flag, fiber)
    fiber.pointee.attention.store(true, ordering: .sequentiallyConsistent)
    coroutine.performAtHome {
      if self.isOpen { Self.deliver(to: self.coroutine.fiber, from: self) }
    }
  }

  /// Carries a cancellation out: of a scope, or (nil) of the whole coroutine.
  ///
  /// The caller has the home's turn.
  package static func deliver(
    to fiber: UnsafeMutablePointer<Fiber>,
    from origin: CancellationScope?
  ) {
    if origin == nil, fiber.pointee.scope == nil, !mayHaveBareChildren(fiber) {
      // It has no children anywhere: nobody else is reached, and no list is needed.
      return endWait(of: fiber, currentThread())
    }
    var reached = [fiber]
    cancelChildren(of: fiber, from: origin, &reached)
    carryOut(&reached, from: 1)
  }

  /// Cancels the children that a coroutine launched outside any scope.
  package static func cancelChildren(of fiber: UnsafeMutablePointer<Fiber>) {
    guard mayHaveBareChildren(fiber) else { return }
    var reached: [UnsafeMutablePointer<Fiber>] = []
    cancelBareChildren(of: fiber, &reached)
    carryOut(&reached, from: 0)
  }

  /// Cancels the children of those who have been reached, theirs, and so on; then ends the waits of
  /// all of them, descendants first.
  ///
  /// A list and not recursion, because a line of descendants can be longer than the stack is deep.
  /// Nothing of the user's runs meanwhile, so nobody in the list goes away.
  private static func carryOut(
    _ reached: inout [UnsafeMutablePointer<Fiber>],
    from start: Int
  ) {
    var next = start
    while next < reached.count {
      cancelChildren(of: reached[next], from: nil, &reached)
      next += 1
    }
    let thread = currentThread()
    for fiber in reached.reversed() { endWait(of: fiber, thread) }
  }

  /// Ends the wait in which a coroutine of the calling loop is parked, if the code that waits is cancelled.
  private static func endWait(of fiber: UnsafeMutablePointer<Fiber>, _ thread: ThreadRecord) {
    guard isCancelled(fiber), fiber.pointee.phase.load(ordering: .relaxed) == .suspended,
      let waiter = fiber.pointee.waiter
    else { return }
    // Rule 3: if somebody else has ended the wait, that wins, and the wake-up is on its way.
    if waiter.withdraw(.cancelled) { fiber.makeReady(thread) }
  }

  /// Notes the children that a cancellation from `origin` concerns, or cancels them if they are
  /// elsewhere.
  private static func cancelChildren(
    of fiber: UnsafeMutablePointer<Fiber>,
    from origin: CancellationScope?,
    _ reached: inout [UnsafeMutablePointer<Fiber>]
  ) {
    // The scopes inside the cancelled one, innermost first, down to the last shield on the way: what
    // is inside a shield is spared.
    var affected: [CancellationScope] = []
    var scope = innermost(fiber)
    while let current = scope {
      if current === origin { break }
      if current.isShield {
        affected.removeAll()
      } else {
        affected.append(current)
      }
      scope = current.parent?.takeUnretainedValue()
    }
    if let origin {
      affected.append(origin)
    } else {
      cancelBareChildren(of: fiber, &reached)
    }
    for scope in affected { scope.cancelChildren(&reached) }
  }

  /// False if it has launched no coroutine outside any scope that may live still.
  private static func mayHaveBareChildren(_ fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    fiber.children.pointee.first != nil || fiber.withCoroutine { $0.extras != nil }
  }

  private static func cancelBareChildren(
    of fiber: UnsafeMutablePointer<Fiber>,
    _ reached: inout [UnsafeMutablePointer<Fiber>]
  ) {
    note(fiber.children, &reached)
    fiber.coroutine.extras?.remoteChildren?.cancelAll(&reached)
  }

  private func cancelChildren(_ reached: inout [UnsafeMutablePointer<Fiber>]) {
    Self.note(children, &reached)
    remoteChildren?.cancelAll(&reached)
  }

  /// Notes those of the list that had not been cancelled before.
  private static func note(
    _ list: UnsafeMutablePointer<FiberList>,
    _ reached: inout [UnsafeMutablePointer<Fiber>]
  ) {
    var child = list.pointee.first
    while let current = child {
      child = current.pointee.nextSibling
      if current.coroutine.requestCancellation() { reached.append(current) }
    }
  }
}

extension RemoteChildren {
  /// Runs `body` with the registry of the innermost scope, or of the running coroutine outside any.
  @inline(__always)
  package static func withInnermost(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ body: (RemoteChildren) -> Void
  ) {
    if let scope = CancellationScope.innermost(fiber) { return body(scope.requiredRemoteChildren) }
    let registry = known(to: fiber) ?? fiber.withCoroutine { makeRegistry(of: $0) }
    // SAFETY: as below.
    registry._withUnsafeGuaranteedRef(body)
  }

  /// The registry of the running coroutine's own, if it has one.
  @inline(__always)
  package static func known(to fiber: UnsafeMutablePointer<Fiber>) -> Unmanaged<RemoteChildren>? {
    // SAFETY: a running coroutine is alive, and so are its extras and the registry there, which stays once it is made:
    // counting them would be two thirds of what a launch on a pool counts.
    fiber.withCoroutine { $0.extras?.remoteChildren.map { Unmanaged.passUnretained($0) } }
  }

  @inline(never)
  private static func makeRegistry(of coroutine: Coroutine) -> Unmanaged<RemoteChildren> {
    let registry = RemoteChildren()
    coroutine.requiredExtras.remoteChildren = registry
    return Unmanaged.passUnretained(registry)
  }
}

extension CancellationScope {
  /// The registry of children elsewhere; made by the home scheduler.
  ///
  /// Once made it stays, so a `CoroutineScope`, which makes it at once, may ask for it from any thread.
  package var requiredRemoteChildren: RemoteChildren {
    if let remoteChildren { return remoteChildren }
    let registry = RemoteChildren()
    remoteChildren = registry
    return registry
  }
}

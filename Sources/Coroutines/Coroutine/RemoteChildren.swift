// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
package import CoroutineKernel

/// Coroutines that are to be cancelled with a parent that runs on another loop.
///
/// Invariants:
/// - R1. A fiber whose `registry` this is stands in `first`…, and has not ended: its end takes it out before
///   anything else can let go of it. One of a `CoroutineScope` (`isScoped`) may have ended: it is taken out when it counts
///   its end, as the last thing that concerns the scope.
/// - R2. While `first` is not nil, the registry holds a reference to itself: one for all its members.
/// - R3. `pending` members are the scope's. Once it is over there are none, and none come.
///
/// The lock is biased: of a tree of launches in a pool most branches never leave the loop where they began.
package final class RemoteChildren: @unchecked Sendable {
  // SAFETY: all but `ownLock` and `lock` is guarded by it, as are the sibling links of the members.

  /// Its address is `lock`: a stored property of a class does not move.
  @exclusivity(unchecked)
  private final var ownLock = Lock.forFew(currentThread())
  /// The address of `ownLock`, taken once: to take it counts as writing, and ThreadSanitizer sees that.
  @exclusivity(unchecked)
  private final var lock: UnsafeMutablePointer<cck_lock_t>
  @exclusivity(unchecked)
  private final var first: UnsafeMutablePointer<Fiber>?
  @exclusivity(unchecked)
  private final var nested: [RemoteChildren] = []
  @exclusivity(unchecked)
  private final var isCancelled = false
  @exclusivity(unchecked)
  private final var pending = 0
  @exclusivity(unchecked)
  private final var isOver = false

  /// The scope that waits for members whose `isScoped` is set; set before the first of them.
  ///
  /// Not retained (N2).
  @exclusivity(unchecked)
  final var waiting: Unmanaged<CoroutineScope>?

  package init() {
    // SAFETY: a number that is not 0, and nobody looks before the next line.
    lock = UnsafeMutablePointer(bitPattern: 8).unsafelyUnwrapped
    // SAFETY: as said at `ownLock`.
    lock = withUnsafeMutablePointer(to: &ownLock) { $0 }
  }

  /// What becomes of a child that is added.
  package enum Reception {
    case added
    /// All have been cancelled: so must the child be.
    case addedToCancelled
    /// Not added: the scope that would have to wait for it is over (R3).
    case tooLate
  }

  /// Adds a child that has not begun.
  @inline(__always)
  package final func add(_ child: UnsafeMutablePointer<Fiber>, isScoped: Bool) -> Reception {
    child.pointee.registry = Unmanaged.passUnretained(self).toOpaque()
    return lock.withLock {
      if isScoped {
        if isOver { return .tooLate }
        pending += 1
      }
      child.pointee.previousSibling = nil
      child.pointee.nextSibling = first
      if let first {
        first.pointee.previousSibling = child
      } else {
        // SAFETY: R2; taken back in `leave`.
        _ = Unmanaged.passRetained(self)
      }
      first = child
      return isCancelled ? .addedToCancelled : .added
    }
  }

  /// Takes a child that has ended, or will not begin, out of the registry that it is in; not one of a `CoroutineScope`.
  package static func leave(_ child: UnsafeMutablePointer<Fiber>) {
    guard let registry = child.pointee.registry else { return }
    child.pointee.registry = nil
    // SAFETY: alive by R2, because the child is a member.
    let own = Unmanaged<RemoteChildren>.fromOpaque(registry)
    let isLast = own._withUnsafeGuaranteedRef { own in own.lock.withLock { own.remove(child) } }
    // SAFETY: the reference of R2, after the lock was left.
    if isLast { own.release() }
  }

  /// Takes a child of a `CoroutineScope` out, which has told how it ended.
  ///
  /// - Returns: The scope, if it has no other child here: to be told. The caller is given a reference.
  static func leaveScope(_ child: UnsafeMutablePointer<Fiber>) -> Unmanaged<CoroutineScope>? {
    guard let registry = child.pointee.registry else { return nil }
    child.pointee.registry = nil
    // SAFETY: as above.
    let own = Unmanaged<RemoteChildren>.fromOpaque(registry)
    let (scope, isLast) = own._withUnsafeGuaranteedRef { own in
      own.lock.withLock {
        own.pending -= 1
        // SAFETY: the scope is alive: it finds under this lock that `pending` is 0 before it ends.
        return (own.pending == 0 ? own.waiting?.retain() : nil, own.remove(child))
      }
    }
    // SAFETY: as above.
    if isLast { own.release() }
    return scope
  }

  /// Under the lock.
  ///
  /// - Returns: True if nobody is left, and the reference of R2 is to be released.
  @inline(__always)
  private func remove(_ child: UnsafeMutablePointer<Fiber>) -> Bool {
    let (next, previous) = (child.pointee.nextSibling, child.pointee.previousSibling)
    if let previous { previous.pointee.nextSibling = next } else { first = next }
    if let next { next.pointee.previousSibling = previous }
    return first == nil
  }

  /// No child of the scope is here.
  final var hasNonePending: Bool { lock.withLock { pending == 0 } }

  /// The scope is over, if no child of it is here.
  ///
  /// - Returns: It is.
  final func endScope() -> Bool {
    lock.withLock {
      isOver = pending == 0
      return isOver
    }
  }

  /// Nobody is in it, nor in what was joined to it.
  package final var isEmpty: Bool {
    lock.withLock { first == nil && nested.allSatisfy { $0.isEmpty } }
  }

  /// Makes the members of another registry members of this one.
  package final func join(_ other: RemoteChildren) {
    lock.withLock {
      // Those whose members have ended would otherwise pile up.
      nested.removeAll { $0.isEmpty }
      nested.append(other)
    }
  }

  /// It has been cancelled: so is whatever is added.
  package final var hasBeenCancelled: Bool { lock.withLock { isCancelled } }

  /// Cancels all members.
  ///
  /// - Parameter reached: Gets those that the caller's loop holds; the others are sent a message.
  package final func cancelAll(_ reached: inout [UnsafeMutablePointer<Fiber>]) {
    let (children, registries) = lock.withLock {
      isCancelled = true
      var children: [Coroutine] = []
      var next = first
      while let child = next {
        next = child.pointee.nextSibling
        // Alive by R1, and kept so by the array.
        children.append(child.coroutine)
      }
      return (children, nested)
    }
    for child in children { child.cancelWithParent(&reached) }
    for registry in registries { registry.cancelAll(&reached) }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
public import Synchronization

/// A flag that is set, from any thread, and can be looked at from any other.
@usableFromInline
package struct AtomicFlag: ~Copyable, Sendable {
  @usableFromInline let value = Atomic<Bool>(false)

  /// A flag that is not set.
  @inlinable @inline(__always)
  package init() {}

  /// It has been set.
  @inlinable @inline(__always)
  package var isSet: Bool { value.load(ordering: .acquiring) }

  /// Takes it back: nobody else may know the flag any more.
  @inlinable @inline(__always)
  package func clear() { value.store(false, ordering: .relaxed) }

  /// Sets it.
  ///
  /// - Returns: True if it was not set before.
  @inlinable @inline(__always)
  @discardableResult
  package func set() -> Bool {
    if value.load(ordering: .relaxed) { return false }
    return !value.exchange(true, ordering: .sequentiallyConsistent)
  }
}

/// The parts of a coroutine that most do without.
@usableFromInline
package final class CoroutineExtras {
  /// Called when the body has ended, before joiners are woken.
  package var finishHooks: [() -> Void] = []
  /// Children on other schedulers.
  package var remoteChildren: RemoteChildren?
  /// The registry of a parent on another scheduler that this coroutine is in.
  package var registeredIn: RemoteChildren?
  /// The scheduler whose `runBlocking` throws the error of this failed coroutine if nobody looks at it.
  package var collector: SchedulerCore?
  /// The structured scope that waits for this coroutine.
  package var scope: CoroutineScope?

  @usableFromInline
  package init() {}
}

/// Coroutines that are to be cancelled with a parent that runs on another scheduler.
package final class RemoteChildren: @unchecked Sendable {
  // SAFETY: the properties are guarded by `lock`.
  private let lock = AllocatedLock()
  private var members: [ObjectIdentifier: Coroutine] = [:]
  private var nested: [RemoteChildren] = []
  private var isCancelled = false

  package init() {}

  /// Adds a child that has not ended.
  ///
  /// - Returns: False if all have been cancelled: then so must the child be.
  package func add(_ child: Coroutine) -> Bool {
    lock.withLock {
      members[ObjectIdentifier(child)] = child
      return !isCancelled
    }
  }

  /// Removes a child that has ended.
  package func remove(_ child: Coroutine) {
    let removed = lock.withLock { members.removeValue(forKey: ObjectIdentifier(child)) }
    // Released here, after the lock: it may have been the last reference.
    _ = removed
  }

  /// Nobody is in it, nor in what was joined to it.
  package var isEmpty: Bool {
    lock.withLock { members.isEmpty && nested.allSatisfy { $0.isEmpty } }
  }

  /// Makes the members of another registry members of this one.
  package func join(_ other: RemoteChildren) {
    lock.withLock {
      // Those whose members have ended would otherwise pile up.
      nested.removeAll { $0.isEmpty }
      nested.append(other)
    }
  }

  /// Cancels all members.
  package func cancelAll() {
    let (children, registries) = lock.withLock {
      isCancelled = true
      return (Array(members.values), nested)
    }
    for child in children { child.cancel() }
    for registry in registries { registry.cancelAll() }
  }
}

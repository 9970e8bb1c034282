// SPDX-License-Identifier: Apache-2.0

public import Synchronization

#if COROUTINES_CHECKED
public import CoroutineKernel
#else
import CoroutineKernel
#endif

/// A flag that is set, from any thread, and can be looked at from any other.
@usableFromInline
package struct AtomicFlag: ~Copyable, Sendable {
  @usableFromInline let value = Atomic<Bool>(false)

  /// A flag that is not set.
  @inlinable @inline(__always)
  package init() {}

  /// It has been set.
  @inlinable @inline(__always)
  package var isSet: Bool {
    noteUse()
    return value.load(ordering: .acquiring)
  }

  /// Tells who explores orders that it is read or written.
  @inlinable @inline(__always)
  package func noteUse() {
    #if COROUTINES_CHECKED
    withUnsafePointer(to: value) { noteAccess($0) }
    #endif
  }

  /// Takes it back: nobody else may know the flag any more.
  @inlinable @inline(__always)
  package func clear() {
    // Most are not set: see `renew` of a fiber.
    if value.load(ordering: .relaxed) { value.store(false, ordering: .relaxed) }
  }

  /// Sets it, where nobody asks who was first: a store, and no barrier.
  @inlinable @inline(__always)
  package func set() {
    noteUse()
    value.store(true, ordering: .releasing)
  }

  /// Sets it.
  ///
  /// - Returns: True if it was not set before.
  @inlinable @inline(__always)
  package func setFirst() -> Bool {
    noteUse()
    if value.load(ordering: .relaxed) { return false }
    return !value.exchange(true, ordering: .sequentiallyConsistent)
  }
}

/// The parts of a coroutine that most do without.
@usableFromInline
package final class CoroutineExtras {
  /// Called when the body has ended, before joiners are woken.
  @exclusivity(unchecked)
  package var finishHooks: [() -> Void] = []
  /// Children on other loops.
  @exclusivity(unchecked)
  package var remoteChildren: RemoteChildren?
  /// The scheduler whose `runBlocking` throws the error of this failed coroutine if nobody looks at it.
  @exclusivity(unchecked)
  package var collector: SchedulerCore?
  /// The name, as C code can print it.
  ///
  /// Set before the launch, if at all.
  @exclusivity(unchecked)
  package var label: UnsafeMutablePointer<CChar>?

  @usableFromInline
  package init() {}

  /// Nobody asks for what is in here once the coroutine has ended: children that live on are nobody's then.
  final var isSpent: Bool {
    label == nil && collector == nil && finishHooks.isEmpty
  }

  deinit { label?.deallocate() }
}

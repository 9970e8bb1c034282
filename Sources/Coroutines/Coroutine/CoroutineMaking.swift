// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
public import CoroutineKernel

/// Coroutines without their work yet: objects that lie ready on this thread, or new ones.
///
/// Each has a second reference, which is the scheduler's until it has ended: `begin` hands it over, and `runCoroutine` or
/// `failToStart` ends it.
///
/// The common case calls nothing, so that it keeps no registers for later; all others are one call at its end.
@usableFromInline
enum CoroutineMaking {
  /// One on a given scheduler.
  @usableFromInline @inline(__always)
  static func make(
    _ type: Coroutine.Type,
    _ home: UnsafeMutablePointer<Home>,
    _ stackSize: StackSize,
    _ site: SourceSite,
    _ thread: ThreadRecord
  ) -> Coroutine {
    guard CoroutineIdentifiers.isDrawn(thread), let spare = SpareCoroutines.takeAtHand(type, thread)
    else { return makeAnyhow(type, home, stackSize, site, thread) }
    let identifier = CoroutineIdentifiers.nextDrawn(thread)
    return renew(spare, home, stackSize, site, identifier, thread)
  }

  @inline(never)
  private static func makeAnyhow(
    _ type: Coroutine.Type,
    _ home: UnsafeMutablePointer<Home>,
    _ stackSize: StackSize,
    _ site: SourceSite,
    _ thread: ThreadRecord
  ) -> Coroutine {
    if let spare = SpareCoroutines.take(type, thread) {
      return renew(spare, home, stackSize, site, CoroutineIdentifiers.next(thread), thread)
    }
    let made = type.init(home: home, stackSize: stackSize, site: site, thread: thread)
    // SAFETY: nobody else knows it.
    cck_object_retain_alone(Unmanaged.passUnretained(made).toOpaque())
    return made
  }

  @inline(__always)
  static func renew(
    _ spare: Unmanaged<Coroutine>,
    _ home: UnsafeMutablePointer<Home>,
    _ stackSize: StackSize,
    _ site: SourceSite,
    _ identifier: UInt64,
    _ thread: ThreadRecord
  ) -> Coroutine {
    // SAFETY: the one reference is the caller's, so nobody else has it; now there are two.
    cck_object_retain_unshared(spare.toOpaque())
    spare._withUnsafeGuaranteedRef {
      $0.renew(
        home: home,
        stackSize: stackSize,
        site: site,
        identifier: identifier,
        thread: thread
      )
    }
    return spare.takeRetainedValue()
  }
}

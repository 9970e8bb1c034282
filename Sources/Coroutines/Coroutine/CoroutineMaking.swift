// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
public import CoroutineKernel

/// Coroutines without their work yet: objects that lie ready on this thread, or new ones.
///
/// Each has one reference, which is the scheduler's until it has ended: `begin` hands it over, and `runCoroutine` or
/// `failToStart` ends it. The handle is another one, if anybody wants it; see `makeHandle`.
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
  ) -> UnsafeMutablePointer<Fiber> {
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
  ) -> UnsafeMutablePointer<Fiber> {
    if let spare = SpareCoroutines.take(type, thread) {
      return renew(spare, home, stackSize, site, CoroutineIdentifiers.next(thread), thread)
    }
    let made = type.init(home: home, stackSize: stackSize, site: site, thread: thread)
    return FiberOwner.fiber(of: Unmanaged.passRetained(made).toOpaque())
  }

  @inline(__always)
  static func renew(
    _ spare: Unmanaged<Coroutine>,
    _ home: UnsafeMutablePointer<Home>,
    _ stackSize: StackSize,
    _ site: SourceSite,
    _ identifier: UInt64,
    _ thread: ThreadRecord
  ) -> UnsafeMutablePointer<Fiber> {
    spare._withUnsafeGuaranteedRef {
      $0.renew(
        home: home,
        stackSize: stackSize,
        site: site,
        identifier: identifier,
        thread: thread
      )
    }
    return FiberOwner.fiber(of: spare.toOpaque())
  }
}

/// The handle of a coroutine that has just been made: a reference beside the scheduler's.
///
/// To be asked for once, before anybody but this thread can know the coroutine, or at the latest before anything runs that could
/// run it. A launch asks for each; and where the handle is dropped at once, the optimiser leaves out both this and the
/// release, which is an atomic operation and a fifth of what such a launch takes. So nothing may need the handle to keep the
/// coroutine alive on its way to the scheduler, which may have run it and freed it before `begin` returns.
///
/// No function of a type; see `launchHere`. Not inlined, because then there would be nothing to leave out.
// SAFETY: the attribute promises that who does not use what this returns does not notice that it was not called. It changes
// nothing but the object's count, which the release takes back.
@usableFromInline @inline(never)
@_effects(readonly)
func makeHandle(of fiber: UnsafeMutablePointer<Fiber>) -> Coroutine {
  // SAFETY: nobody else counts its references yet.
  cck_object_retain_alone(fiber.owner)
  return Unmanaged<Coroutine>.fromOpaque(fiber.owner).takeRetainedValue()
}

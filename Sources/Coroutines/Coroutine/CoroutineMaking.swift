// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
public import CoroutineKernel
import Synchronization

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
  fileprivate static func renew(
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

/// Launches a coroutine on the scheduler of the code that calls this, all but for its work.
///
/// No function of a type: those take the type as one argument more, which is dropped in a function of its own.
///
/// - Parameters:
///   - type: Of the coroutine.
///   - stackSize: Of its stack.
///   - site: Where it is launched.
///   - thread: The caller's.
///   - isUsual: It begins when its turn comes, and has no name.
/// - Returns: The coroutine, and whether it has begun, which the caller does otherwise. It is in line then: it must have its work
///   before the caller does anything else.
@usableFromInline @inline(never)
func launchHere(
  _ type: Coroutine.Type,
  _ stackSize: StackSize,
  _ site: SourceSite,
  _ thread: ThreadRecord,
  _ isUsual: Bool
) -> (coroutine: Coroutine, hasBegun: Bool) {
  guard let parent = thread.runningFiber, CoroutineIdentifiers.isDrawn(thread),
    let spare = SpareCoroutines.takeAtHand(type, thread)
  else { return (makeHere(type, stackSize, site, thread), false) }
  let home = parent.pointee.home
  let identifier = CoroutineIdentifiers.nextDrawn(thread)
  let coroutine = CoroutineMaking.renew(spare, home, stackSize, site, identifier, thread)
  guard isUsual, home.pointee.isPlain, parent.adoptsAtOnce else { return (coroutine, false) }
  coroutine.fiber.beginBeside(parent)
  return (coroutine, true)
}

/// A coroutine without its work, on the scheduler of the code that calls this.
@inline(never)
private func makeHere(
  _ type: Coroutine.Type,
  _ stackSize: StackSize,
  _ site: SourceSite,
  _ thread: ThreadRecord
) -> Coroutine {
  let home = thread.runningFiber?.pointee.home ?? SchedulerCore.ofCaller(thread).home
  return CoroutineMaking.make(type, home, stackSize, site, thread)
}

extension UnsafeMutablePointer where Pointee == Fiber {
  /// A child on the same loop is nothing but a link in its list: it is in no scope, not cancelled, and has no locals.
  @inline(__always)
  var adoptsAtOnce: Bool {
    pointee.scope == nil && pointee.locals == nil && !pointee.attention.load(ordering: .relaxed)
  }

  /// Puts this, which is new, in line as a child of `parent`, which adopts at once, on the loop of both.
  @inline(__always)
  func beginBeside(_ parent: UnsafeMutablePointer<Fiber>) {
    let home = parent.pointee.home
    home.noteBegin()
    FiberList.add(self, to: parent.children)
    home.push(self)
  }

  /// Hands the coroutine that this is part of to its scheduler; see `Coroutine.begin`.
  @usableFromInline @inline(never)
  func beginCoroutine(_ start: LaunchStart, _ thread: ThreadRecord) {
    withCoroutine { $0.begin(start, thread.runningFiber, thread) }
  }
}

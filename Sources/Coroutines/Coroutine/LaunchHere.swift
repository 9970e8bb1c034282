// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel
import Synchronization

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
/// - Returns: The coroutine, and whether it has begun, which the caller does otherwise. It is in line then: it must have its work,
///   and its handle, before the caller does anything else.
@usableFromInline @inline(never)
func launchHere(
  _ type: Coroutine.Type,
  _ stackSize: StackSize,
  _ site: SourceSite,
  _ thread: ThreadRecord,
  _ isUsual: Bool
) -> (fiber: UnsafeMutablePointer<Fiber>, hasBegun: Bool) {
  guard let parent = thread.runningFiber, CoroutineIdentifiers.isDrawn(thread),
    let spare = SpareCoroutines.takeAtHand(type, thread)
  else { return (makeHere(type, stackSize, site, thread), false) }
  let home = parent.pointee.home
  let identifier = CoroutineIdentifiers.nextDrawn(thread)
  let fiber = CoroutineMaking.renew(spare, home, stackSize, site, identifier, thread)
  guard isUsual, home.pointee.isPlain, parent.adoptsAtOnce else { return (fiber, false) }
  fiber.beginBeside(parent)
  return (fiber, true)
}

/// A coroutine without its work, on the scheduler of the code that calls this.
@inline(never)
private func makeHere(
  _ type: Coroutine.Type,
  _ stackSize: StackSize,
  _ site: SourceSite,
  _ thread: ThreadRecord
) -> UnsafeMutablePointer<Fiber> {
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
}

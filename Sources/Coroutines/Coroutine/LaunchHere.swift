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
///   - start: When it is to begin; nil if it has a name, which it must have before it is a child of anybody.
/// - Returns: The coroutine, which the caller begins unless it `isBeside` its parent. It is in line then, if it is to begin when its
///   turn comes: it must have its work, and its handle, before the caller does anything else.
@usableFromInline @inline(never)
func launchHere(
  _ type: Coroutine.Type,
  _ stackSize: StackSize,
  _ site: SourceSite,
  _ thread: ThreadRecord,
  _ start: LaunchStart?
) -> UnsafeMutablePointer<Fiber> {
  guard let parent = thread.runningFiber, CoroutineIdentifiers.isDrawn(thread),
    let spare = SpareCoroutines.takeAtHand(type, thread)
  else { return makeHere(type, stackSize, site, thread) }
  let home = parent.pointee.home
  let identifier = CoroutineIdentifiers.nextDrawn(thread)
  let fiber = CoroutineMaking.renew(spare, home, stackSize, site, identifier, thread)
  if let start, home.pointee.isPlain, parent.adoptsAtOnce { fiber.beginBeside(parent, start) }
  return fiber
}

/// A coroutine without its work, on the scheduler of the code that calls this; it has not begun.
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

  /// It is in its parent's list, if it has just been made by `launchHere`: no other has got there yet.
  @inlinable @inline(__always)
  var isBeside: Bool { pointee.siblings != nil }

  /// Makes this, which is new, a child of `parent`, which adopts at once, on the loop of both; and puts it in line, unless it is to
  /// begin before its parent goes on.
  @inline(__always)
  func beginBeside(_ parent: UnsafeMutablePointer<Fiber>, _ start: LaunchStart) {
    let home = parent.pointee.home
    home.noteBegin()
    FiberList.add(self, to: parent.children)
    if start == .queued { home.push(self) }
  }
}

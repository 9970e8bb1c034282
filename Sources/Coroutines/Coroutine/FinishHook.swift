// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Synchronization

// Invariants:
// - K1. Hooks are called with the turn of the coroutine's home, after the body, in phase `ending` and under no lock; and
//   all before the phase is `dead`, so before any joiner goes on.
// - K2. Those of its own turns are in its extras, which nobody else touches; all others, and those that come while hooks
//   are called, in a `HookLine` in front of the joiners, under the join lock. The end looks there under the same hold of the
//   lock under which it makes the phase `dead`: so none comes between.

extension Coroutine {
  /// Calls `hook` when the body has ended, before joiners go on; at once if that is over already.
  ///
  /// From any thread. Hooks run on the coroutine's scheduler and must not park. They find the coroutine finished, and can
  /// look at its `error`. They are called in the order of their registration, but those from other schedulers and
  /// threads, and those registered by hooks, after the others.
  ///
  /// - Parameter hook: What to do.
  public final func onFinish(_ hook: @escaping () -> Void) {
    if isHere, !isFinished {
      requiredExtras.finishHooks.append(hook)
    } else if !HookLine.add(hook, to: fiber) {
      hook()
    }
  }

  /// Its turns are on this thread for as long as this call takes, so it does not end meanwhile.
  private final var isHere: Bool {
    guard let home = currentThread().currentHome else { return false }
    // In a pool another loop may take it before it has begun.
    return home == fiber.pointee.home && home.pointee.pool == nil
  }

  /// What its end does for hooks in line, under its join lock, which is left meanwhile.
  @inline(never)
  final func callHooksFromElsewhere(_ mode: inout LockMode) {
    let (fiber, lock, thread) = (fiber, fiber.joinLock, currentThread())
    while let line = HookLine.take(from: fiber.joiners) {
      lock.release(mode)
      fiber.pointee.phase.store(.ending, ordering: .releasing)
      // What a hook launches is no child of one that has ended.
      let ended = thread.runningFiber
      thread.runningFiber = nil
      HookLine.call(line)
      thread.runningFiber = ended
      mode = lock.acquire(thread)
    }
  }
}

/// Finish hooks that are in line: one node for all of them, before those who wait for the end.
private struct HookLine: ~Copyable {
  /// First field.
  private var waiter = Waiter(fiber: nil)
  private var hooks: [() -> Void] = []

  /// What tells such a node from a waiting task's.
  private static let function: KernelFunction = { HookLine.call($0) }

  /// Puts a hook in line.
  ///
  /// - Returns: False if it is too late for that.
  static func add(_ hook: @escaping () -> Void, to fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    preemptionPoint(.flag, fiber)
    return fiber.joinLock.withLock {
      if fiber.isOver { return false }
      let line = first(in: fiber.joiners) ?? begin(in: fiber.joiners)
      line.pointee.hooks.append(hook)
      return true
    }
  }

  /// Takes it out of the queue, under the lock.
  static func take(from queue: UnsafeMutablePointer<WaitQueue>) -> UnsafeMutableRawPointer? {
    guard let line = first(in: queue), let waiter = queue.pointee.first else { return nil }
    queue.pointee.remove(waiter)
    return UnsafeMutableRawPointer(line)
  }

  /// Calls the hooks of one that is in no queue any more, and frees it.
  static func call(_ line: UnsafeMutableRawPointer) {
    // SAFETY: made by `begin`, and nobody else knows of it (W2).
    let line = line.assumingMemoryBound(to: HookLine.self)
    let hooks = line.pointee.hooks
    line.deinitialize(count: 1)
    line.deallocate()
    for hook in hooks { hook() }
  }

  private static func first(
    in queue: UnsafeMutablePointer<WaitQueue>
  ) -> UnsafeMutablePointer<HookLine>? {
    guard let waiter = queue.pointee.first, waiter.pointee.fiber == nil,
      // SAFETY: a function without a context is one pointer.
      unsafeBitCast(waiter.pointee.callback, to: UnsafeRawPointer?.self)
        == unsafeBitCast(function, to: UnsafeRawPointer.self)
    else { return nil }
    // SAFETY: only `begin` makes nodes with this function, and `waiter` is the first field.
    return UnsafeMutableRawPointer(waiter).assumingMemoryBound(to: HookLine.self)
  }

  private static func begin(
    in queue: UnsafeMutablePointer<WaitQueue>
  ) -> UnsafeMutablePointer<HookLine> {
    let line = UnsafeMutablePointer<HookLine>.allocate(capacity: 1)
    line.initialize(to: HookLine())
    // SAFETY: the first field.
    let waiter = UnsafeMutableRawPointer(line).assumingMemoryBound(to: Waiter.self)
    waiter.pointee.callback = function
    queue.pointee.prepend(waiter)
    return line
  }
}

// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization

extension Coroutine {
  /// Calls `hook` when the body has ended, before joiners go on; at once if it has ended already.
  ///
  /// From any thread. Hooks run on the coroutine's scheduler, in the order of their registration, and must not park. Those
  /// registered on another scheduler, or for a coroutine of a pool, are in line with the joiners: they come after the
  /// others, and before whoever joins later.
  ///
  /// - Parameter hook: What to do.
  public final func onFinish(_ hook: @escaping () -> Void) {
    if isFinished {
      hook()
    } else if isHere {
      requiredExtras.finishHooks.append(hook)
    } else if !FinishHook.add(hook, to: fiber) {
      hook()
    }
  }

  /// Its turns are on this thread for as long as this call takes, so it does not end meanwhile.
  private final var isHere: Bool {
    guard let home = currentThread().currentHome else { return false }
    // In a pool another loop may take it before it has begun.
    return home == fiber.pointee.home && home.pointee.pool == nil
  }
}

/// A hook that was registered beside the turns of its coroutine: it waits in line with those who join.
private final class FinishHook {
  private let hook: () -> Void
  private let waiter: UnsafeMutablePointer<Waiter>

  private init(_ hook: @escaping () -> Void) {
    self.hook = hook
    waiter = .allocate(capacity: 1)
    waiter.initialize(to: Waiter(fiber: nil))
    waiter.pointee.callback = { waiter in
      let waiter = waiter.assumingMemoryBound(to: Waiter.self)
      guard let context = waiter.pointee.context else { return }
      // SAFETY: takes over the reference that `add` made; a wait ends once (W2).
      Unmanaged<FinishHook>.fromOpaque(context).takeRetainedValue().call()
    }
  }

  deinit { waiter.deallocate() }

  /// - Returns: False if the coroutine has ended.
  static func add(
    _ hook: @escaping () -> Void,
    to fiber: UnsafeMutablePointer<Fiber>
  ) -> Bool {
    let made = FinishHook(hook)
    made.waiter.pointee.queue = fiber.joiners
    made.waiter.pointee.lock = fiber.joinLock
    return fiber.joinLock.withLock {
      if fiber.pointee.phase.load(ordering: .acquiring) == .dead { return false }
      // SAFETY: no coroutine goes before its end, which ends the wait of all who are in this line.
      made.waiter.pointee.context = Unmanaged.passRetained(made).toOpaque()
      fiber.joiners.pointee.append(made.waiter)
      return true
    }
  }

  private func call() {
    // What the hook launches is no child of one that has ended.
    let thread = currentThread()
    let ended = thread.runningFiber
    thread.runningFiber = nil
    hook()
    thread.runningFiber = ended
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Somebody else's loop, on one thread, that can be asked to call blocks.
package protocol TurnHost: AnyObject, Sendable {
  /// Has the loop call `block`, after those that it was asked to call before.
  ///
  /// From any thread; never calls it here.
  func perform(_ block: @escaping () -> Void)

  /// The code that asks runs on the loop's thread.
  var isHere: Bool { get }

  /// Has the loop call `block` after so many nanoseconds, and forget what this asked for before.
  ///
  /// On the loop's thread only.
  func setTimer(after delay: Int64, _ block: @escaping () -> Void)

  /// Forgets what `setTimer` asked for.
  ///
  /// On the loop's thread only.
  func clearTimer()

  /// The number of coroutines that live on the loop has become more than zero, or zero again.
  ///
  /// From any thread for more than zero; then with the turn.
  func coroutineBegan()

  /// One coroutine less lives on the loop.
  func coroutineEnded()
}

/// A loop with one thread as a scheduler.
///
/// The turn is taken already when a block comes only if a coroutine runs the loop itself.
package final class HostedCore: TurnCore, @unchecked Sendable {
  // SAFETY: see TurnCore; `host` is constant.

  private let host: any TurnHost

  /// A scheduler on a loop that has none yet.
  package init(host: any TurnHost, label: String) {
    self.host = host
    super.init(label: label)
    home.pointee.postFiber = { home, fiber in
      // SAFETY: the types are those that `makeReady` passes. The coroutine has not ended, so its
      // core, which it holds, is alive; the block holds it from then on.
      let core = unsafeDowncast(home.assumingMemoryBound(to: Home.self).core, to: HostedCore.self)
      let fiber = fiber.assumingMemoryBound(to: Fiber.self)
      core.host.perform { core.arrive(fiber) }
    }
  }

  package override var kind: RuntimeMetrics.SchedulerKind { .hosted }

  package override var isHere: Bool { host.isHere }

  override func sendBlock() { host.perform { self.arrive(nil) } }

  package override func coroutineBegan(_ coroutine: Coroutine) {
    // SAFETY: balanced in `coroutineEnded`; a live coroutine holds its scheduler.
    _ = Unmanaged.passRetained(self)
    host.coroutineBegan()
  }

  package override func coroutineEnded(_ coroutine: Coroutine) {
    host.coroutineEnded()
    // SAFETY: takes back the retain above. The block that runs this holds the object too.
    Unmanaged.passUnretained(self).release()
  }

  override func armTimer(after delay: Int64) {
    host.setTimer(after: max(0, delay)) { [weak self] in self?.timerFired() }
  }

  override func dropTimer() { host.clearTimer() }
}

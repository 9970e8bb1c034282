// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Coroutines
public import Dispatch

/// A body of code that can wait without blocking its thread: the handle to it.
///
/// `co_launch` makes and starts one. It runs on its queue, from beginning to end. What is launched inside it
/// is its child, on whatever queue, and is cancelled with it; it is not waited for.
///
/// All methods may be called from any thread.
open class Coroutine: @unchecked Sendable {
  // SAFETY: constants only; `Life` guards its own state.

  let life: Life
  let scheduler: Scheduler
  private let size: StackSize

  /// The queue that was asked for; nil if it was the current one.
  public let queue: DispatchQueue?

  /// A coroutine that begins when it is resumed.
  ///
  /// - Parameters:
  ///   - block: The body. What it throws is in `lastError` afterwards.
  ///   - queue: Where it runs; nil for the queue of the code that makes it (in a coroutine, that one's; on
  ///     the main thread the main queue; on a thread without a queue, one that the process shares).
  ///   - stackSize: Bytes of address space for its stack; nil or 0 for 256 KiB (512 KiB on Apple systems).
  ///     Rounded up to a power of two, 16 KiB at least; more than 512 MiB stops the program with a message.
  public init(
    block: @escaping () throws -> Void,
    on queue: DispatchQueue? = nil,
    stackSize: UInt32? = nil
  ) {
    life = Life(block: block)
    self.queue = queue
    scheduler = queue.map { .queue($0) } ?? .current
    size = stackSize.flatMap { $0 == 0 ? nil : .bytes(Int($0)) } ?? .default
    life.handle = self
  }

  /// The body holds the handle until it has ended.
  var isHeldByBody: Bool { true }

  // MARK: - The running one

  /// The coroutine that runs this code; nil outside any.
  ///
  /// Also nil in a coroutine that module `Coroutines` launched.
  ///
  /// - Returns: The coroutine.
  public class func current() -> Coroutine? { Life.current?.handle }

  /// The code runs in a coroutine that has not been cancelled.
  ///
  /// - Returns: False outside a coroutine.
  public class func isActive() -> Bool {
    Coroutines.Coroutine.current != nil && !Coroutines.Coroutine.isCancelled
  }

  // MARK: - Beginning

  /// Starts it: the body runs later, in a block of its queue; the second time nothing happens.
  ///
  /// - Returns: The coroutine itself.
  @discardableResult
  public func resume() -> Coroutine {
    start(.queued)
    return self
  }

  /// Starts it at once, up to where it first waits, if the caller is on its queue; else like `resume`.
  public func resumeNow() {
    start(.immediately)
  }

  /// The same as `resume`; coswift's name for waking a coroutine, which nobody has to do here.
  public func addToScheduler() {
    resume()
  }

  private func start(_ start: LaunchStart) {
    life.launch(
      on: scheduler,
      stackSize: size,
      start: start,
      keeping: isHeldByBody ? self : nil
    )
  }

  /// It has been resumed.
  public var resumed: Bool { life.isResumed }

  // MARK: - End

  /// The body has ended, or will not run because it was cancelled before.
  public var isFinished: Bool { life.isFinished }

  /// It was cancelled before it had ended.
  public var isCancelled: Bool { life.isCancelled }

  /// What the body threw, once it has ended: `COError.coroutineCancelled` if it was cancelled.
  ///
  /// An error that nobody looks at, by this or by `join`, is printed to standard error when the last
  /// reference to the coroutine goes away.
  public var lastError: (any Error)? { life.error }

  /// Called when the body has ended, before those who join go on; in the coroutine, on its queue.
  ///
  /// Setting it after the end has no effect.
  public var finishedBlock: (() -> Void)? {
    get { life.finishedBlock }
    set { life.finishedBlock = newValue }
  }

  /// Asks it, and its children, to stop.
  ///
  /// If it waits, the wait throws `COError.coroutineCancelled`; if it runs, its next wait does; if it has not
  /// started, its body never runs. `isCancelled` is true at once; the end comes later. No effect after the
  /// end.
  public func cancel() {
    life.cancel()
  }

  /// Waits until it has ended, however it ends; at once if it has.
  ///
  /// Any number of coroutines may wait. Does not throw, so: if the *waiting* coroutine is cancelled, this
  /// returns early, `co_isCancelled` is true, and the next wait throws. Outside a coroutine, and on itself, it
  /// cannot wait: it returns at once, and says so on standard error.
  public func join() {
    do {
      if Life.current === life { throw CoroutineError.joinsItself }
      try life.join()
    } catch let error as CoroutineError {
      if isFinished { return }
      "coswift: join() returns at once and has not waited. \(error)\n"
        .withCString { cck_print_error($0) }
    } catch {
      // The caller was cancelled: its next wait throws.
    }
  }

  /// Cancels it, and waits as `join` does.
  public func cancelAndJoin() {
    cancel()
    join()
  }
}

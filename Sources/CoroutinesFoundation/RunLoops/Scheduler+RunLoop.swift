// SPDX-License-Identifier: Apache-2.0

public import Coroutines
public import Foundation

extension Scheduler {
  /// A run loop as a scheduler: its coroutines run on the run loop's thread, in the common modes.
  ///
  /// ```swift
  /// launch(on: .runLoop(.main)) {
  ///   label.text = try download(url).title
  /// }
  /// ```
  ///
  /// Each wake-up is a block as of `RunLoop.perform`, in order with the others. Somebody must run the
  /// run loop (`RunLoop.main.run()`, an application's main function); while coroutines live on it,
  /// they are an input to it, so that `run(until:)` and its like do not return for want of one. If its
  /// thread ends before they do, they never go on.
  ///
  /// `launch { }` in a coroutine stays on the run loop. In a plain callback of a run loop, name the
  /// scheduler: code outside coroutines is not told apart by its run loop.
  ///
  /// - Parameter runLoop: The run loop; kept alive by the scheduler and by its coroutines.
  /// - Returns: Its scheduler; the same one for a run loop as long as it is in use.
  public static func runLoop(_ runLoop: RunLoop) -> Scheduler {
    Scheduler(core: RunLoopHost.core(of: runLoop))
  }
}

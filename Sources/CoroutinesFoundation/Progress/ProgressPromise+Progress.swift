// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
public import Coroutines
public import Foundation

extension ProgressPromise {
  /// Foundation's view of this promise, for interfaces that want a `Progress`.
  ///
  /// A coroutine writes each fraction into it, the latest if there are many, on one scheduler: Foundation's
  /// `Progress` has no lock of its own on Linux, so use it there too. Fulfilment completes it. Cancelling
  /// either cancels the other. This does not start a lazy promise, nor keep the promise alive.
  ///
  /// - Parameters:
  ///   - totalUnitCount: The units that the whole has; above zero.
  ///   - scheduler: Where it is written; that of the caller if left out. If the calling code is cancelled
  ///     already, nothing is written.
  /// - Returns: The progress, without a parent.
  public func progress(totalUnitCount: Int64 = 1000, on scheduler: Scheduler? = nil) -> Progress {
    demand(
      totalUnitCount > 0,
      "ProgressPromise.progress(totalUnitCount: \(totalUnitCount)): it must be more than 0."
    )
    let progress = Progress.discreteProgress(totalUnitCount: totalUnitCount)
    progress.isCancellable = true
    progress.cancellationHandler = { [weak promise] in promise?.cancel() }
    let meter = meter
    let write: @Sendable () throws -> Void = {
      // The promise's end ends this, not that of the code that wanted to see it.
      try withCancellationShield {
        var position = ProgressMeter.Position()
        while let fraction = try meter.next(after: &position) {
          // Downwards: a progress whose units are complete counts as finished.
          progress.completedUnitCount = Int64(fraction * Double(totalUnitCount))
        }
        switch meter.state {
        case .fulfilled: progress.completedUnitCount = totalUnitCount
        case .cancelled: if !progress.isCancelled { progress.cancel() }
        case .pending, .rejected: break
        }
      }
    }
    if let scheduler {
      launch(on: scheduler, name: "progress", write)
    } else {
      launch(name: "progress", write)
    }
    return progress
  }

  /// Reports what a `Progress` of Foundation's shows, until either has ended.
  ///
  /// The present fraction is reported at once, and the last one when the promise is settled. Between them
  /// a coroutine on the caller's scheduler looks at the progress now and then: on Linux Foundation has no
  /// key-value observing, and tells nobody, by no method that could be overridden, when a child has
  /// changed. Nor has `Progress` a lock there: it should be changed on the same scheduler.
  ///
  /// Cancelling the promise cancels the progress; once a look shows that the progress is cancelled, so is
  /// the promise. A finished progress does not settle the promise: the work does. Following another
  /// progress takes the place of this one.
  ///
  /// - Parameters:
  ///   - progress: What to follow. It is not kept alive.
  ///   - interval: The time from one look to the next.
  /// - Returns: This.
  @discardableResult
  public func follow(_ progress: Progress, every interval: Duration = .milliseconds(50)) -> Self {
    meter.follow(progress, every: interval) { [weak promise] isCancelled in
      if isCancelled { promise?.cancel() }
    }
    promise.onCancel { [weak progress] _ in progress?.cancel() }
    return self
  }
}

extension ProgressMeter {
  /// Reports what a `Progress` of Foundation's shows, until that or the promise has ended.
  ///
  /// As `ProgressPromise.follow(_:every:)`, for use inside a constructor; cancellation is not passed on.
  /// Following another progress takes the place of this one.
  ///
  /// - Parameters:
  ///   - progress: What to follow. It is not kept alive.
  ///   - interval: The time from one look to the next.
  public func follow(_ progress: Progress, every interval: Duration = .milliseconds(50)) {
    follow(progress, every: interval) { _ in }
  }

  /// Follows a progress, and tells when that has ended.
  ///
  /// - Parameters:
  ///   - progress: What to follow.
  ///   - interval: The time from one look to the next.
  ///   - keepsAlive: The progress is held until the promise is settled, or another one is followed.
  ///   - onEnd: Called once, if the progress ends before the promise.
  package func follow(
    _ progress: Progress,
    every interval: Duration = .milliseconds(50),
    keepsAlive: Bool = false,
    onEnd: @escaping @Sendable (_ isCancelled: Bool) -> Void
  ) {
    let held = keepsAlive ? progress : nil
    let number = beginToFollow { [weak self, weak progress] in
      withExtendedLifetime(held) { progress?.fractionCompleted ?? self?.fraction ?? .nan }
    }
    guard report(progress.fractionCompleted, follower: number) else { return }
    // Strong references end with each look: nothing is kept alive by being looked at.
    let look: @Sendable () -> Bool = { [weak self, weak progress] in
      guard let self, let progress,
        self.report(progress.fractionCompleted, follower: number)
      else { return false }
      guard progress.isCancelled || progress.isFinished else { return true }
      onEnd(progress.isCancelled)
      return false
    }
    launch(name: "progress sampler") {
      while look() { try Coroutine.sleep(for: interval) }
    }
  }
}

extension Progress: CoroutineNamespaceProviding {}

/// A progress of Foundation's as something to iterate and to await.
extension CoroutineNamespace where Base: Progress {
  /// A promise that is fulfilled when the progress is finished, and tells its fractions until then.
  ///
  /// It looks at the progress now and then; see `ProgressPromise.follow(_:every:)`. If the progress is
  /// cancelled, so is the promise, and the other way round. A progress that goes away unfinished leaves the
  /// promise abandoned.
  ///
  /// - Parameters:
  ///   - interval: The time from one look to the next.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  /// - Returns: The promise.
  public func promise(
    every interval: Duration = .milliseconds(50),
    file: StaticString = #fileID,
    line: UInt = #line
  ) -> ProgressPromise<Void> {
    let meter = ProgressMeter()
    let base = base
    // The constructor's closures go with the sampler: nobody else settles.
    let promise = ProgressPromise<Void>(
      Promise<Void>(file: file, line: line) { fulfill, reject in
        meter.follow(base, every: interval) { isCancelled in
          if isCancelled { reject(PromiseError.cancelled) } else { fulfill(()) }
        }
      },
      meter: meter
    )
    promise.promise.onCancel { [weak base] _ in base?.cancel() }
    return promise
  }
}

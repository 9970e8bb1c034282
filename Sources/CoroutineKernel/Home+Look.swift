// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel

// A loop looks at the clock, fires timers and asks for descriptors every so many turns, because a look costs as much as
// some turns. Turns that compute for long would put that off for ever, so the processor's counter is looked at in
// between: by the loop each time that it comes round, and by `Coroutine.yield`, which coroutines that compute are told to
// call.
extension UnsafeMutablePointer where Pointee == Home {
  /// The calling thread's loop begins.
  package func beginLooking() {
    // A race must not depend on how long anything takes.
    pointee.lookPeriod = currentPreemptionObserver() == nil ? cck_ticks_of_millisecond() : .max
    pointee.lookTicks = cck_ticks()
  }

  /// The loop has looked at the clock.
  package func noteLook(at now: Int64) {
    pointee.lookedAt = now
    pointee.lookTicks = cck_ticks()
  }

  /// A millisecond or so has passed since the loop's last look at the clock.
  @inlinable @inline(__always)
  package var isLookDue: Bool {
    cck_ticks() &- pointee.lookTicks > pointee.lookPeriod
  }

  /// Whether the loop, which has come round, should look at the clock before it has come round `rounds` times.
  @inlinable @inline(__always)
  package func mustLook(_ round: Int, every rounds: Int) -> Bool {
    let isDue = isLookDue
    if isDue || pointee.handOverLimit != pointee.usualHandOvers { adapt(toLongTurns: isDue) }
    return isDue || round % rounds == 0
  }

  /// While turns are long the loop comes round after a few of them.
  @usableFromInline @inline(never)
  func adapt(toLongTurns areLong: Bool) {
    if pointee.isTraced { return }
    pointee.handOverLimit =
      areLong ? Swift.min(pointee.usualHandOvers, longTurns) : pointee.usualHandOvers
  }
}

/// Direct switches while turns are long.
private let longTurns: Int32 = 3

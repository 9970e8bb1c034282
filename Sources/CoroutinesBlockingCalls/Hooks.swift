// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CCoroutinesBlockingCalls
import CoroutineKernel
import Coroutines
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What the C side calls to park, and to ask whether it may.
///
/// Each is called on a coroutine, in the middle of a call of C's: no error may leave it.
enum Hooks {
  /// Gives them to the C side, once.
  static let install: Void = {
    var hooks = cbc_hooks_t(
      wait: wait,
      sleep: sleep,
      now: { CoroutineClock.nanoseconds },
      offload: offloadToEnd,
      offload_or_leave: offloadOrLeave,
      closing: { DescriptorWait.close($0) },
      scope: {
        guard let scope = ParkingScope.current.value else { return -1 }
        return scope.isOn ? 1 : 0
      },
      is_cancelled: {
        guard let fiber = currentThread().runningFiber else { return 0 }
        return CancellationScope.isCancelled(fiber) ? 1 : 0
      },
      may_park: { mayPark() ? 1 : 0 }
    )
    cbc_install(&hooks)
  }()

  private static let wait: @convention(c) (Int32, cbc_direction_t, Int64) -> cbc_outcome_t = {
    descriptor,
    direction,
    deadline in
    do {
      let outcome = try DescriptorWait.wait(
        descriptor,
        for: direction == CBC_READING ? .reading : .writing,
        deadline: deadline == .max ? nil : deadline,
        "a blocking call of C"
      )
      switch outcome {
      case .ready: return CBC_READY
      case .timedOut: return CBC_TIMED_OUT
      case .closed: return CBC_CLOSED
      case .failed(let error): return error == EBADF ? CBC_CLOSED : CBC_UNABLE
      }
    } catch is CancellationError {
      return CBC_CANCELLED
    } catch {
      return CBC_UNABLE
    }
  }

  private static let sleep: @convention(c) (Int64) -> cbc_outcome_t = { nanoseconds in
    do {
      try Coroutine.sleep(for: .nanoseconds(nanoseconds))
      return CBC_READY
    } catch {
      return CBC_CANCELLED
    }
  }

  /// A scheduler whose coroutines may change threads does not let them wait inside a block of another
  /// queue's `sync` (see TurnCore): there the call blocks.
  private static func mayPark() -> Bool {
    guard let home = currentThread().currentHome else { return false }
    guard home.pointee.migrates, let core = home.core as? TurnCore else { return true }
    return core.isHere
  }
}

/// A function of the C side, which gets its context.
private typealias Work = @convention(c) (UnsafeMutableRawPointer) -> Void

/// Runs the work elsewhere, and comes back when it has ended, cancelled or not: it uses memory of the
/// caller's.
private let offloadToEnd: @convention(c) (Work, UnsafeMutableRawPointer) -> cbc_outcome_t = {
  work,
  context in
  let begun = Promise<Void>()
  let ended = Promise<Void>()
  // SAFETY: what it points to is the caller's, who is parked until the work has ended or cannot begin any
  // more: whoever settles `begun` first decides which. A function of C's holds nothing.
  nonisolated(unsafe) let (work, context) = (work, context)
  do {
    try offload {
      guard begun.fulfill(()) else { return }
      work(context)
      ended.fulfill(())
    }
    return CBC_READY
  } catch {
    if begun.reject(error) { return CBC_CANCELLED }
    // The work goes on, and its end is certain. Its result counts: cancellation shows at the next call.
    _ = try? withCancellationShield { try ended.settled() }
    return CBC_READY
  }
}

/// Who is to let go of the context: the work, if the caller has left before its end.
private final class Leaving: Sendable {
  private let oneHasLeft = Atomic<Bool>(false)

  /// True for the second of the two.
  func leaves() -> Bool { oneHasLeft.exchange(true, ordering: .acquiringAndReleasing) }
}

/// Runs the work elsewhere; a cancelled caller does not wait for its end.
private let offloadOrLeave: @convention(c) (Work, UnsafeMutableRawPointer, Work) -> cbc_outcome_t =
  { work, context, drop in
    let begun = Promise<Void>()
    let leaving = Leaving()
    // SAFETY: the work alone uses it until its end. After that the caller does, unless it has left: then it
    // is dropped, by the second of the two. Functions of C's hold nothing.
    nonisolated(unsafe) let (work, context, drop) = (work, context, drop)
    do {
      try offload {
        guard begun.fulfill(()) else { return }
        work(context)
        if leaving.leaves() { drop(context) }
      }
      return CBC_READY
    } catch {
      if begun.reject(error) || leaving.leaves() { drop(context) }
      return CBC_CANCELLED
    }
  }

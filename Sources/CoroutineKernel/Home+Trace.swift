// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
import Synchronization

// How a loop is recorded without costing anything while it is not:
//
// - Direct switches, and launches that tell nobody, are switched off as they are for test schedulers and censuses:
//   `handOverLimit` is 0 and `isPlain` false. Then all passes through `Home.resume` and `Coroutine.enqueue`, which
//   look whether a session is on.
// - A wake compares its home with the thread's `direct_home` instead of its home. While a session is on that is nil,
//   so that all wakes take the way of those that come from elsewhere.
// - `Fiber.attention` is set, so that what parks looks twice, and finds out (`Parking.refuseIfCancelled`).

/// A session is on: events are recorded.
@inlinable @inline(__always)
package var isTracing: Bool { cck_trace_current() != 0 }

/// The same, for those who call `TraceHooks` without having joined the session.
private var isTracingAcquired: Bool { cck_trace_current_acquire() != 0 }

/// What the kernel calls while it records; the layer above knows coroutines and their objects.
///
/// Functions of C, since calling a closure counts references; and unchecked, since looking for overlapping accesses
/// takes longer than an event.
package enum TraceHooks {
  // SAFETY: all are written before the first session begins; whoever calls one has joined a session since, under
  // the lock of cck_trace.h, or has seen with `isTracingAcquired` that one is on.

  /// The number of a home, which the calling thread holds the turn of, or (nil) of the thread.
  @exclusivity(unchecked)
  nonisolated(unsafe) package static var lane: @convention(c) (UnsafeMutableRawPointer?) -> UInt16 =
    { _ in 0 }
  /// A coroutine goes on: its fiber.
  // SAFETY: as said above.
  @exclusivity(unchecked)
  nonisolated(unsafe) package static var willRun: KernelFunction = { _ in }
  /// It has parked, or given up its turn.
  // SAFETY: as said above.
  @exclusivity(unchecked)
  nonisolated(unsafe) package static var didStop: KernelFunction = { _ in }
}

extension UnsafeMutablePointer where Pointee == cck_thread_t {
  /// Records an event of the calling thread, if a session is on.
  package func record(
    _ kind: TraceKind,
    _ fiber: UInt64 = 0,
    other: UInt64 = 0,
    object: UInt32 = 0,
    flags: UInt8 = 0
  ) {
    guard let lane = traceLane else { return }
    cck_trace_record(self, kind.rawValue, flags, lane, fiber, other, object)
  }

  /// Where the calling thread is, in the session that is on; nil if none is.
  private var traceLane: UInt16? {
    let session = cck_trace_current()
    if let home = currentHome {
      let lane = home.pointee.traceLane
      if lane >> 16 == session & 0xffff { return UInt16(truncatingIfNeeded: lane) }
    }
    // Joins the session.
    let own = cck_trace_thread_lane(self)
    guard session != 0 else { return nil }
    if let home = currentHome {
      let lane = TraceHooks.lane(UnsafeMutableRawPointer(home))
      home.pointee.traceLane = session << 16 | UInt32(lane)
      return lane
    }
    if own != CCK_TRACE_NO_LANE { return UInt16(truncatingIfNeeded: own) }
    let lane = TraceHooks.lane(nil)
    cck_trace_set_thread_lane(self, lane)
    return lane
  }

  /// The number of the coroutine that runs on this thread; 0 outside any.
  package var runningNumber: UInt64 { runningFiber?.pointee.identifier ?? 0 }
}

extension UnsafeMutablePointer where Pointee == Home {
  /// Launches and ends here must be told of, until `removeListener`.
  ///
  /// With the turn.
  package func addListener() {
    pointee.listeners += 1
    pointee.isPlain = false
  }

  /// Takes `addListener` back.
  package func removeListener() {
    pointee.listeners -= 1
    pointee.isPlain = pointee.listeners == 0
  }

  /// From now on everything passes through the loop.
  ///
  /// With the turn.
  package func beginTrace(_ thread: ThreadRecord) {
    thread.pointee.direct_home = nil
    guard !pointee.isTraced else { return }
    pointee.isTraced = true
    addListener()
    pointee.handOverLimit = 0
    pointee.handOvers = 0
  }

  private func endTrace(_ thread: ThreadRecord) {
    pointee.isTraced = false
    removeListener()
    pointee.handOverLimit = pointee.usualHandOvers
    thread.pointee.direct_home = UnsafeMutableRawPointer(self)
  }

  /// A coroutine is about to go on.
  ///
  /// A loop finds out here that a session has begun, or has ended.
  @inline(never)
  package func traceRun(of fiber: UnsafeMutablePointer<Fiber>, _ thread: ThreadRecord) {
    if !isTracingAcquired { return endTrace(thread) }
    beginTrace(thread)
    // Those that are sent here while the session is on notice it (see above).
    fiber.pointee.attention.store(true, ordering: .relaxed)
    TraceHooks.willRun(UnsafeMutableRawPointer(fiber))
  }

  /// The loop goes on.
  ///
  /// What has ended has said so itself, and is not the running coroutine any more.
  @inline(never)
  func traceStop(_ thread: ThreadRecord) {
    guard isTracingAcquired, let fiber = thread.runningFiber else { return }
    TraceHooks.didStop(UnsafeMutableRawPointer(fiber))
  }
}

extension UnsafeMutablePointer where Pointee == Fiber {
  /// The part of `makeReady` for wakes from elsewhere, and for those that are recorded.
  @usableFromInline @inline(never)
  package func makeReadyElsewhere(
    _ home: UnsafeMutablePointer<Home>,
    _ thread: ThreadRecord
  ) {
    if isTracing {
      thread.record(.wake, pointee.identifier, other: thread.runningNumber)
    } else {
      thread.pointee.direct_home = thread.pointee.home
    }
    if thread.currentHome == home {
      pointee.phase.store(.ready, ordering: .relaxed)
      home.push(self)
    } else {
      home.pointee.postFiber(UnsafeMutableRawPointer(home), UnsafeMutableRawPointer(self))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Synchronization

extension UnsafeMutablePointer where Pointee == Home {
  /// The reactor that the calling thread, which has the turn, sleeps in.
  ///
  /// - Throws: `DescriptorFailure` if it cannot be made.
  package func ownReactor() throws(DescriptorFailure) -> Reactor {
    if let reactor = pointee.reactor?.takeUnretainedValue() {
      reactor.begin()
      return reactor
    }
    let made = try Reactor.make(forLoop: true)
    made.begin()
    pointee.reactor = .passRetained(made)
    pointee.watcher = made.watcher
    pointee.parker.pointee.poller = made.poller
    return made
  }

  /// Coroutines of this loop wait for descriptors.
  package var hasDescriptorWaits: Bool { pointee.descriptorWaits > 0 }

  /// The loop says that it is about to sleep; it looks for work once more after this.
  package func announceSleep() {
    if hasDescriptorWaits {
      pointee.parker.announcePolling()
    } else {
      pointee.parker.announce()
    }
  }

  /// Sleeps until there is a post or a descriptor is ready; may return early.
  ///
  /// - Parameter timeout: At most so many nanoseconds; for ever, if negative.
  package func sleep(atMost timeout: Int64) {
    pointee.sleeps.store(pointee.sleeps.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    if isTracing { currentThread().record(.sleep) }
    AwakeLoops.leave()
    defer {
      AwakeLoops.enter()
      if isTracing { currentThread().record(.awake) }
    }
    guard hasDescriptorWaits else { return pointee.parker.sleep(atMost: timeout) }
    poll(atMost: timeout)
    pointee.parker.retract()
  }

  /// Wakes those whose descriptors are ready, if any wait; does not sleep.
  package func pollDescriptors() {
    if hasDescriptorWaits { poll(atMost: 0) }
  }

  private func poll(atMost timeout: Int64) {
    // SAFETY: a home keeps its reactor for good (H3), and only the thread that has the turn is here.
    pointee.reactor?._withUnsafeGuaranteedRef { $0.poll(atMost: timeout) }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Synchronization

// A loop that is woken again and again, for one finished piece of work after the other, takes the processors from those who
// do the work. So it *naps* in between: it sleeps for a short time, and who has said that its posts can wait for so long
// does not wake it. Whoever else does.
//
// Nothing is lost: who posts looks whether the loop naps after the post. If it sees a nap, it looked before the loop had
// noted the nap's end, and the loop looks at its inbox after that and before it sleeps again.
extension UnsafeMutablePointer where Pointee == Home {
  /// Sleeps, as `sleep(atMost:)` does, but on through what patient threads post.
  ///
  /// - Parameter time: Nanoseconds.
  package func nap(atMost time: Int64) {
    setNapping(true)
    sleep(atMost: time)
    setNapping(false)
  }

  private func setNapping(_ isNapping: Bool) {
    preemptionPoint(.sleep, pointee.parker)
    pointee.isNapping.store(isNapping, ordering: .sequentiallyConsistent)
  }

  /// Wakes the loop for what the calling thread has just posted.
  package func wakeForPost() {
    if pointee.parker.isAwake { return }
    let thread = currentThread()
    if thread.pointee.lets_nap != 0, pointee.isNapping.load(ordering: .sequentiallyConsistent) {
      thread.owe(self)
    } else {
      pointee.parker.wake()
    }
  }
}

extension ThreadRecord {
  /// Runs `body`, whose posts can wait until a nap is over, or until this thread calls `wakeOwed`.
  package func withPatience(_ body: () -> Void) {
    pointee.lets_nap = 1
    body()
    pointee.lets_nap = 0
  }

  /// Wakes the loop that has been let nap: there is nothing else that it would be in the way of.
  package func wakeOwed() {
    guard let owed = pointee.owed_home else { return }
    pointee.owed_home = nil
    // SAFETY: a home is never unmapped (H3), and to wake one in vain does no harm.
    owed.assumingMemoryBound(to: Home.self).pointee.parker.wake()
  }

  fileprivate func owe(_ home: UnsafeMutablePointer<Home>) {
    let home = UnsafeMutableRawPointer(home)
    if pointee.owed_home == home { return }
    wakeOwed()
    pointee.owed_home = home
  }
}

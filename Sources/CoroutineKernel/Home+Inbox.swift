// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Synchronization

extension UnsafeMutablePointer where Pointee == Home {
  /// Adds a link to the inbox.
  ///
  /// - Parameter link: The link; its memory stays in place until it has been taken.
  /// - Returns: False if the inbox is closed: the scheduler has shut down.
  package func post(_ link: UnsafeMutablePointer<InboxLink>) -> Bool {
    preemptionPoint(.post, self)
    return pointee.inbox.push(link)
  }

  /// Brings a coroutine that has not started to an event loop.
  ///
  /// - Returns: False if the loop has ended.
  package func postFirst(_ fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    guard post(fiber.link) else { return false }
    pointee.parker.wake()
    return true
  }

  /// Something has been posted that the holder has not taken yet.
  package var hasPost: Bool {
    preemptionPoint(.take, self)
    return pointee.inbox.hasMembers
  }

  /// Takes what has been posted, in the order of posting: coroutines go to the run queue, jobs are
  /// done at once.
  ///
  /// - Returns: True if there was anything.
  @discardableResult
  package func takePosts() -> Bool {
    preemptionPoint(.take, self)
    var next = pointee.inbox.takeAll()
    guard next != nil else { return false }
    while let link = next {
      next = link.pointee.next
      if let perform = link.pointee.perform {
        perform(UnsafeMutableRawPointer(link))
      } else {
        let fiber = UnsafeMutableRawPointer(link).assumingMemoryBound(to: Fiber.self)
        // A coroutine that has no stack comes here for the first time.
        if fiber.pointee.stack == nil, !pointee.migrates { noteBegin() }
        fiber.pointee.phase.store(.ready, ordering: .relaxed)
        push(fiber)
      }
    }
    return true
  }

  /// Closes the inbox if it is empty.
  ///
  /// - Returns: False if something has been posted.
  package func closeInbox() -> Bool {
    preemptionPoint(.take, self)
    return pointee.inbox.close()
  }
}

/// A closure to be run by a home's holder.
private struct PostedJob {
  var link: InboxLink
  var work: () -> Void
}

extension UnsafeMutablePointer where Pointee == Home {
  /// Has the holder of the turn run `work`.
  ///
  /// The caller must then see to it that somebody takes the turn.
  ///
  /// - Parameter work: What to run; dropped if the scheduler has shut down.
  /// - Returns: False if the scheduler has shut down.
  package func post(_ work: @escaping () -> Void) -> Bool {
    let job = UnsafeMutablePointer<PostedJob>.allocate(capacity: 1)
    job.initialize(
      to: PostedJob(
        link: InboxLink(perform: { link in
          // SAFETY: the link is the first field of the job that was posted with it.
          let job = link.assumingMemoryBound(to: PostedJob.self)
          let work = job.pointee.work
          job.deinitialize(count: 1)
          job.deallocate()
          work()
        }),
        work: work
      )
    )
    if post(UnsafeMutableRawPointer(job).assumingMemoryBound(to: InboxLink.self)) { return true }
    job.deinitialize(count: 1)
    job.deallocate()
    return false
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// What a loop does while it has nothing to run: it looks around for a while, then it sleeps, and meanwhile it gives memory
/// back that nobody has needed.
///
/// Used by one thread, from the beginning of its loop to the end.
struct Idling {
  private let memory: MemoryReturn
  private var spin = IdleSpin()
  private var pace = WakeUpPace()
  /// When to wake up for offloaded work that has ended.
  private var naps = WakeUpPace()
  private var quiet = QuietSleep()

  /// The calling thread begins to run a loop.
  init(_ thread: ThreadRecord) {
    memory = MemoryReturn(thread)
    AwakeLoops.enter()
  }

  /// The loop has ended.
  func end() {
    AwakeLoops.leave()
    memory.end()
  }

  /// The loop, which has other work, looks at the clock.
  @inline(__always)
  func look(at now: Int64) { memory.look(at: now) }

  /// Until when to look around and sleep, for a timer that is due at `next`; nil: there is none.
  @inline(__always)
  func deadline(for next: Int64?) -> Int64? { next.map { pace.next(for: $0) } }

  /// Looks around until there is something to do, or it has been in vain for long enough.
  ///
  /// - Parameters:
  ///   - home: The loop's, whose run queue is empty.
  ///   - deadline: When there is something to do in any case.
  ///   - source: Where it may come from.
  ///   - isOver: There is something else than what comes to the home; asked at least once.
  /// - Returns: There is something.
  @inline(__always)
  mutating func lookAround(
    _ home: UnsafeMutablePointer<Home>,
    until deadline: Int64?,
    for source: IdleSpin.Source,
    or isOver: () -> Bool
  ) -> Bool {
    let watched = home.beginWatch()
    let besideWork = OffloadPool.takesAllProcessors
    let isThere = spin.wait(until: deadline, for: source, besideWork: besideWork) {
      watched?.isTold ?? false || home.hasPost || isOver()
    } poll: {
      home.pollDescriptors()
      return home.pointee.runFirst != nil
    } awake: {
      AwakeLoops.count
    }
    home.endWatch(watched)
    return isThere || home.pointee.runFirst != nil
  }

  /// Sleeps until something comes; may return early.
  ///
  /// The loop has looked around in vain, has announced that it sleeps, and has looked once more.
  ///
  /// - Parameters:
  ///   - core: The loop.
  ///   - timeout: Nanoseconds, not 0; negative for ever.
  ///   - source: Where something may come from.
  ///   - isAwaited: `runBlocking` waits for the loop's coroutines, and there are some; asked if nothing but another thread
  ///     can wake the loop.
  @inline(__always)
  mutating func sleep(
    _ core: SchedulerCore,
    atMost timeout: Int64,
    for source: IdleSpin.Source,
    isAwaited: @autoclosure () -> Bool
  ) {
    let home = core.home
    let isBesideWork = OffloadPool.isAtWork
    if isBesideWork, let time = naps.pause(at: core.now, atMost: timeout) {
      home.nap(atMost: time)
      naps.noteWakeUp(at: core.lookAtClock())
      return
    }
    let first = memory.firstSleep(of: timeout)
    if let first {
      home.sleep(atMost: first)
    } else if timeout < 0, !home.hasDescriptorWaits {
      quiet.sleep(core, isAwaited: isAwaited())
    } else {
      home.sleep(atMost: timeout)
    }
    core.lookAtClock()
    if isBesideWork { naps.noteWakeUp(at: core.now) }
    if home.hasPost || home.pointee.runFirst != nil {
      spin.noteWoken(by: source)
    } else if first != nil {
      memory.sleptThrough()
    } else if timeout >= 0 {
      pace.noteWakeUp(at: core.now)
    }
  }
}

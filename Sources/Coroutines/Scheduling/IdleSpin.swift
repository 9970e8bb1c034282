// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// How long a loop without work looks around before it puts its thread to sleep; a thread of `offload`, too.
///
/// To sleep and be woken costs tens of microseconds, most of them on the waker's way; to look around costs
/// a processor. So a loop looks for about as long as sleeping would cost, for less if that has been in
/// vain, and for longer if it was woken so soon that it need not have slept: a loop that is talked to all the
/// time does not sleep in between, one that waits for the world does at once. (Karlin, Manasse, McGeoch,
/// Owicki: Competitive randomized algorithms for nonuniform problems.)
///
/// What was taken for a reason to look longer may be none: whoever is waited for may need the very processor that
/// looks. So a loop that has looked longer several times, and always in vain, tries it but rarely from then on. And where more
/// threads are awake than there are processors (`AwakeLoops`), it gives the processor up between looks: to sleep instead would
/// make each message a wake-up, and to look on would hold up who is to send the next.
struct IdleSpin {
  /// Where something to do may come from.
  enum Source {
    /// Other threads: a look is some loads.
    case threads
    /// Descriptors, too: a look is a system call.
    case descriptors

    /// How long to look at most, in nanoseconds: for descriptors about what an idle processor takes to come back.
    var most: Int64 { self == .threads ? 50_000 : 20_000 }
    /// How long to look at least, or what is too short to be worth a system call.
    var least: Int64 { self == .threads ? 1_000 : 3_000 }
  }

  /// Looks at what other threads may have brought between two looks at the clock, which costs as much as some of them.
  private static let looksPerClock = 16
  /// After so many times in a row that looking longer was in vain, it is tried but rarely.
  private static let mostFailures = 8
  /// One such time in so many.
  private static let rarely = 256

  /// Nanoseconds.
  private(set) var patience: Int64 = 10_000
  /// When the last wait began to look at the clock.
  private var began: Int64 = 0
  /// `patience` is longer because the loop was woken soon, and nothing has come of it yet.
  private var isTrying = false
  /// How often in a row looking longer was in vain.
  private var failures = 0
  /// Those that the thread may run on.
  private lazy var processors = Int(cck_processor_count())
  /// With one processor, whoever is waited for could not run meanwhile: another thread of this process, or anybody.
  ///
  /// Asked at the first wait, of its thread: a system call, which many a loop never has a reason for.
  private lazy var mayHelp: (threads: Bool, descriptors: Bool) = {
    let isExplored = currentPreemptionObserver() != nil
    return (
      threads: !isExplored && processors > 1,
      descriptors: !isExplored && cck_online_processor_count() > 1
    )
  }()

  /// For a thread: what it may run on is asked when it first waits.
  init() {}

  /// As on a machine of so many processors, whatever this one has.
  init(processors count: Int) {
    processors = count
    mayHelp = (threads: count > 1, descriptors: count > 1)
  }

  /// Looks until there is something, or it has been in vain for long enough.
  ///
  /// - Parameters:
  ///   - deadline: When there is something to do in any case.
  ///   - source: Where it may come from.
  ///   - besideWork: Others need the processor: the look is to be short, and nothing is learnt from it.
  ///   - isOver: Another thread has brought something; asked at least once.
  ///   - poll: Looks at the descriptors, and says whether there was something; not asked if the loop may as well sleep
  ///     at once, in a call that looks at them.
  ///   - awake: How many threads are awake that may be looking or at work, this one among them. If they are more than
  ///     processors, the thread gives its processor up between looks.
  /// - Returns: There is something.
  @inline(__always)
  mutating func wait(
    until deadline: Int64?,
    for source: Source,
    besideWork: Bool = false,
    _ isOver: () -> Bool,
    poll: () -> Bool,
    awake: () -> Int = { 1 }
  ) -> Bool {
    guard mayHelp(source) else {
      began = clockNow()
      return isOver()
    }
    var end: Int64?
    while true {
      if Self.looks(isOver) {
        // Something that was there at once says nothing about waiting.
        if end != nil { noteSuccess(source) }
        return true
      }
      if source == .descriptors, poll() {
        if end != nil { noteSuccess(source) }
        return true
      }
      let now = clockNow()
      guard let end else {
        began = now
        end = min(now + (besideWork ? source.least : min(patience, source.most)), deadline ?? .max)
        continue
      }
      if now >= end {
        if now < deadline ?? .max, !besideWork { noteFailure(source) }
        return false
      }
      if awake() > processors { cck_processor_yield() }
    }
  }

  /// Looks some times, for about as long as a look at the clock takes.
  ///
  /// - Parameter isOver: Another thread has brought something.
  /// - Returns: Whether it has.
  @inline(__always)
  static func looks(_ isOver: () -> Bool) -> Bool {
    for _ in 0..<looksPerClock {
      if isOver() { return true }
      cck_processor_pause()
      cck_processor_pause()
    }
    return false
  }

  private mutating func mayHelp(_ source: Source) -> Bool {
    switch source {
    case .threads: mayHelp.threads
    case .descriptors: mayHelp.descriptors && patience > source.least
    }
  }

  private mutating func noteSuccess(_ source: Source) {
    patience = min(patience * 2, source.most)
    isTrying = false
    failures = 0
  }

  private mutating func noteFailure(_ source: Source) {
    patience = max(min(patience, source.most) / 2, source.least)
    if isTrying { failures += 1 }
    isTrying = false
  }

  /// The loop has slept since the last wait, and was woken by `source`.
  mutating func noteWoken(by source: Source) {
    guard source == .threads ? mayHelp.threads : mayHelp.descriptors else { return }
    noteWoken(by: source, after: clockNow() - began)
  }

  /// A longer look could have spared the loop its sleep.
  ///
  /// Else two loops that talk to each other could not leave off sleeping once they had begun: each would look for
  /// less time than the other takes to be woken.
  ///
  /// - Parameters:
  ///   - source: What woke the loop.
  ///   - waited: How long it took until then, in nanoseconds.
  mutating func noteWoken(by source: Source, after waited: Int64) {
    guard waited < source.most, waited * 2 > patience else { return }
    if failures >= Self.mostFailures {
      failures += 1
      guard failures.isMultiple(of: Self.rarely) else { return }
    }
    patience = min(waited * 2, source.most)
    isTrying = true
  }
}

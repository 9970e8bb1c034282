// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Testing

/// "Coroutines of iOS", section "The sources of coobjc": its scheduler, written again on the kernel.
@Suite(.timeLimit(.minutes(30))) struct IOSSchedulerSourceTests {
  // coroutine_add, coroutine_yield, coroutine_scheduler_main
  @Test func `the scheduler pops, resumes and drops coroutines, and then gives the thread back`()
    throws
  {
    let log = Log()
    let scheduler = try SourceScheduler()
    for name in ["a", "b", "c"] {
      let coroutine = SourceCoroutine {
        for step in 1...2 {
          log("\(name)\(step)")
          scheduler.push(scheduler.running)
          scheduler.yield()
        }
        log("\(name) ends")
      }
      scheduler.push(coroutine)
    }
    log("thread")
    try scheduler.drain()
    log("thread again")
    try scheduler.stop()
    #expect(
      log.entries == [
        "thread", "a1", "b1", "c1", "a2", "b2", "c2", "a ends", "b ends", "c ends",
        "thread again",
      ]
    )
    #expect(scheduler.dropped == 3)
  }

  // coroutine_resume: "resume a sub coroutine"
  @Test func `a coroutine that resumes another one goes on behind it`() throws {
    let log = Log()
    let scheduler = try SourceScheduler()
    let parent = SourceCoroutine {
      log("parent")
      scheduler.resume(SourceCoroutine { log("child") })
      log("parent again")
    }
    scheduler.resume(parent)
    try scheduler.stop()
    #expect(log.entries == ["parent", "child", "parent again"])
    #expect(parent.status == .dead)
  }

  // coroutine_add again: a scheduler that has run out of work is woken by the next coroutine.
  @Test func `a scheduler without work sleeps until a coroutine is added`() throws {
    let log = Log()
    let scheduler = try SourceScheduler()
    try scheduler.add(SourceCoroutine { log("first") })
    log("thread")
    try scheduler.add(SourceCoroutine { log("second") })
    try scheduler.stop()
    #expect(log.entries == ["first", "thread", "second"])
  }

  // scheduler_queue_push, scheduler_queue_pop
  @Test func `the queue gives coroutines back in the order in which they came`() throws {
    let scheduler = try SourceScheduler()
    let coroutines = (0..<3).map { _ in SourceCoroutine {} }
    for coroutine in coroutines { scheduler.push(coroutine) }
    for coroutine in coroutines { #expect(scheduler.pop() === coroutine) }
    #expect(scheduler.pop() == nil)
    scheduler.push(coroutines[1])
    #expect(scheduler.pop() === coroutines[1])
    try scheduler.stop()
  }
}

/// The document's `struct coroutine`.
private final class SourceCoroutine {
  enum Status { case ready, running, suspended, dead }

  fileprivate let entry: () -> Void
  fileprivate(set) var status = Status.ready
  fileprivate var context: PrimerContext?
  fileprivate var preContext = PrimerContext()
  fileprivate var next: SourceCoroutine?

  /// The document's `coroutine_create`.
  init(_ entry: @escaping () -> Void) {
    self.entry = entry
  }

  /// The document's `coroutine_resume_im`.
  func resumeNow() throws {
    switch status {
    case .ready:
      // The document's stacks of 64 KiB (and C8's of 256) hold; the kernel rounds up.
      let context = try PrimerContext(stackSize: 1 << 16, link: preContext) { [unowned self] in
        entry()
        status = .dead
      }
      self.context = context
      status = .running
      preContext.swap(to: context)
    case .suspended:
      guard let context else { return }
      status = .running
      preContext.swap(to: context)
    case .running, .dead:
      Issue.record("resumed a coroutine that is \(status)")
    }
  }

  /// The document's `coroutine_yield`.
  func suspend() {
    status = .suspended
    context?.swap(to: preContext)
  }
}

/// The document's `struct coroutine_scheduler`.
private final class SourceScheduler {
  private(set) var running: SourceCoroutine?
  private(set) var dropped = 0
  private var main: SourceCoroutine?
  private var head: SourceCoroutine?
  private var tail: SourceCoroutine?
  private var isStopping = false

  init() throws {
    main = SourceCoroutine { [unowned self] in self.runMain() }
  }

  /// coroutine_scheduler_main: "the scheduler is just a special coroutine, so we can use yield".
  private func runMain() {
    while !isStopping {
      guard let coroutine = pop() else {
        // Gives the processor back to the thread.
        main?.suspend()
        continue
      }
      running = coroutine
      do { try coroutine.resumeNow() } catch { Issue.record(error) }
      running = nil
      if coroutine.status == .dead { dropped += 1 }
    }
  }

  /// The document's `coroutine_add`.
  func add(_ coroutine: SourceCoroutine) throws {
    push(coroutine)
    if running == nil { try drain() }
  }

  /// The document's `coroutine_resume`.
  func resume(_ coroutine: SourceCoroutine) {
    push(coroutine)
    if running != nil {
      push(running)
      yield()
    } else {
      do { try drain() } catch { Issue.record(error) }
    }
  }

  /// Runs what is ready, until nothing is.
  func drain() throws {
    try main?.resumeNow()
  }

  func yield() {
    running?.suspend()
  }

  /// Ends the scheduler's own coroutine.
  func stop() throws {
    isStopping = true
    try main?.resumeNow()
    main = nil
  }

  /// The document's `scheduler_queue_push`.
  func push(_ coroutine: SourceCoroutine?) {
    guard let coroutine else { return }
    coroutine.next = nil
    if let tail { tail.next = coroutine } else { head = coroutine }
    tail = coroutine
  }

  /// The document's `scheduler_queue_pop`.
  func pop() -> SourceCoroutine? {
    guard let coroutine = head else { return nil }
    head = coroutine.next
    if head == nil { tail = nil }
    coroutine.next = nil
    return coroutine
  }
}

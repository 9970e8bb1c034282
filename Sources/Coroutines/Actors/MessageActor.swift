// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
public import Dispatch

/// A coroutine with a mailbox: it handles one message after the other, and its state needs no lock.
///
/// ```swift
/// enum Counting {
///   case add(Int)
///   case total(Reply<Int>)
/// }
///
/// let counter = MessageActor<Counting>(name: "counter") { mailbox in
///   var total = 0  // nobody else can reach it
///   for message in mailbox {
///     switch message {
///     case .add(let number): total += number
///     case .total(let reply): reply(total)
///     }
///   }
/// }
/// try counter.tell(.add(3))
/// print(try counter.ask { .total($0) }.await())  // 3
/// ```
///
/// The body runs as a coroutine, on the scheduler named or that of the code that makes the actor, and as a child of
/// the coroutine that makes it. Messages can be sent at once, before it has begun. A message is finished before the
/// next is taken: a handler that waits lets those behind it wait too. To overlap, take the message in the body and
/// launch a coroutine for the rest; a `Reply` can be given to it.
///
/// | ends by | queued messages |
/// |---|---|
/// | `stop`, or dropping the last handle | are handled first; then the loop over the mailbox ends |
/// | `cancel`, or cancellation of its parent | are dropped, their asks rejected |
/// | its body throwing | the same; the ask that it was handling gets the error itself |
///
/// An error that its body throws goes to who looks at `error` or calls `join`; else it is reported as any
/// coroutine's. A `Supervisor` can restart the actor instead: `Supervisor.actor`.
///
/// Cost: a tell takes no object. An ask takes one, its promise, and from another thread one more for the reply. On the
/// actor's own thread it takes none if the ask before it was answered with a value whose end takes nothing (a number,
/// say), and its promise is in nobody's hands any more: then that one is used again. So of those that only weak
/// references name, one may outlive the last strong one, until the actor is asked again from its own thread.
public final class MessageActor<Message>: @unchecked Sendable, CustomStringConvertible {
  // SAFETY: constants; the channel and the core guard themselves.

  @usableFromInline let channel: Channel<Envelope<Message>>
  @usableFromInline let core: ActorCore
  /// Sending to a full mailbox waits: only then does sending ever park.
  @usableFromInline let waits: Bool
  /// Sending to a full mailbox is an error.
  @usableFromInline let fails: Bool

  /// An actor without a coroutine.
  init(unstarted name: String?, _ capacity: MailboxCapacity, _ site: SourceSite) {
    let channel = Channel<Envelope<Message>>(
      capacity: capacity.channel,
      name: name.map { "mailbox of \($0)" } ?? "mailbox",
      at: site
    )
    self.channel = channel
    waits = capacity.waits
    fails = capacity.fails
    core = ActorCore(
      name: name,
      site: site,
      close: { channel.close() },
      isClosed: { channel.isClosed },
      drain: { error in
        while let envelope = channel.receiveIfReady().value {
          envelope.ticket?.promise?.reject(error())
        }
      }
    )
  }

  deinit {
    channel.close()
  }

  /// An actor on the scheduler of the code that makes it.
  ///
  /// - Parameters:
  ///   - name: For errors, dumps and supervisors.
  ///   - capacity: What its mailbox keeps.
  ///   - stackSize: Address space for its stack; see `StackSize`.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - body: What it does; gets the mailbox. Begins later, in the order of launching.
  public convenience init(
    name: String? = nil,
    capacity: MailboxCapacity = .unbounded,
    stackSize: StackSize = .default,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: @escaping (Mailbox<Message>) throws -> Void
  ) {
    let site = SourceSite(file: file, line: line)
    self.init(unstarted: name, capacity, site)
    begin(SchedulerCore.ofCaller(currentThread()), stackSize, body)
  }

  /// An actor on a given scheduler.
  ///
  /// - Parameters:
  ///   - scheduler: Where its body runs.
  ///   - name: For errors, dumps and supervisors.
  ///   - capacity: What its mailbox keeps.
  ///   - stackSize: Address space for its stack; see `StackSize`.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - body: What it does; gets the mailbox.
  public convenience init(
    on scheduler: Scheduler,
    name: String? = nil,
    capacity: MailboxCapacity = .unbounded,
    stackSize: StackSize = .default,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: sending @escaping (Mailbox<Message>) throws -> Void
  ) {
    let site = SourceSite(file: file, line: line)
    self.init(unstarted: name, capacity, site)
    begin(scheduler.core, stackSize, body)
  }

  /// An actor on a dispatch queue.
  ///
  /// - Parameters:
  ///   - queue: Where its body runs.
  ///   - name: For errors, dumps and supervisors.
  ///   - capacity: What its mailbox keeps.
  ///   - stackSize: Address space for its stack; see `StackSize`.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - body: What it does; gets the mailbox.
  public convenience init(
    on queue: DispatchQueue,
    name: String? = nil,
    capacity: MailboxCapacity = .unbounded,
    stackSize: StackSize = .default,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: sending @escaping (Mailbox<Message>) throws -> Void
  ) {
    let site = SourceSite(file: file, line: line)
    self.init(unstarted: name, capacity, site)
    begin(DispatchCore.of(queue), stackSize, body)
  }

  private func begin(
    _ scheduler: SchedulerCore,
    _ stackSize: StackSize,
    _ body: @escaping (Mailbox<Message>) throws -> Void
  ) {
    // The closures hold the core and the channel, not the handle: dropping the last handle ends the actor.
    let mailbox = Mailbox(channel, core)
    let core = core
    let coroutine = scheduler.launchWatched(
      core.name,
      stackSize,
      core.site,
      parent: currentThread().runningFiber
    ) {
      try core.live(isRestart: false) { try body(mailbox) }
    } atEnd: { error in
      core.incarnationEnded(error, isFinal: true)
      core.end(error)
    }
    core.lifetime.adopt(coroutine)
  }
}

extension MessageActor {
  // MARK: - Looking

  /// The name given when it was made.
  public var name: String? { core.name }

  /// `The actor "counter"`, or where it was made.
  public var description: String { core.description }

  /// It has ended for good.
  public var isStopped: Bool { core.lifetime.isOver }

  /// What its body threw, once it has ended for good; nil if it returned or was cancelled.
  public var error: (any Error)? { isStopped ? core.lifetime.observedFailure : nil }

  /// Number of messages that wait in its mailbox.
  public var count: Int { channel.count }

  /// Calls `hook` at each step of its life from now on, and at once with the latest one, if there was one.
  ///
  /// - Parameter hook: Gets the step; called by whoever takes it, on the actor's or its supervisor's scheduler; must
  ///   not park.
  public func onEvent(_ hook: @escaping @Sendable (MessageActorEvent) -> Void) {
    core.events.observe(hook)
  }

  /// The steps of its life from now on, beginning with the latest one, if there was one.
  ///
  /// - Returns: A channel without limit, closed after `stopped`.
  public func events() -> Channel<MessageActorEvent> {
    core.events.channel { if case .stopped = $0 { true } else { false } }
  }

  // MARK: - Ending

  /// Takes no more messages; the actor ends when it has handled those that it has.
  ///
  /// Does not park; may be called from any thread. A supervised actor is not restarted after that.
  public func stop() { core.stop() }

  /// Cancels the actor: its wait ends, its body unwinds, and the asks in its mailbox are rejected with
  /// `MessageActorError.stopped`.
  ///
  /// Does not park; may be called from any thread. A supervised actor is not restarted after that.
  public func cancel() { core.cancel() }

  /// Parks until the actor has ended for good.
  ///
  /// *Cancellation:* ends the wait only.
  ///
  /// - Throws: `CancellationError` if the caller is cancelled; `CoroutineError` outside a coroutine or in the actor
  ///   itself. What its body threw is in `error`.
  @available(*, noasync, message: "In async code, write `try await actor.join()`.")
  public func join() throws { try core.lifetime.join("MessageActor.join()") }

  /// Suspends the calling task until the actor has ended for good.
  ///
  /// *Cancellation:* of the task: ends the wait only.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func join() async throws { try await core.lifetime.join() }

  /// `stop`, then `join`.
  ///
  /// - Throws: As `join`.
  @available(*, noasync, message: "In async code, write `try await actor.stopAndJoin()`.")
  public func stopAndJoin() throws {
    stop()
    try join()
  }

  /// `stop`, then `join`.
  ///
  /// - Throws: As `join`.
  public func stopAndJoin() async throws {
    stop()
    try await join()
  }

  /// `cancel`, then `join`.
  ///
  /// - Throws: As `join`.
  @available(*, noasync, message: "In async code, write `try await actor.cancelAndJoin()`.")
  public func cancelAndJoin() throws {
    cancel()
    try join()
  }

  /// `cancel`, then `join`.
  ///
  /// - Throws: As `join`.
  public func cancelAndJoin() async throws {
    cancel()
    try await join()
  }
}

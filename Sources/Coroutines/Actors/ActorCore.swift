// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel
public import Synchronization

/// What an actor is, whatever the type of its messages.
///
/// Invariants:
/// - A1. One incarnation of the body runs at a time; `current` and `body` belong to it.
/// - A2. `current` is the ask whose message was taken last, until the next is taken: who drops a reply and goes
///   on, and who throws, leaves nobody waiting.
/// - A3. The mailbox outlives incarnations. It is closed once, by `stop`, `cancel`, the end or the last handle;
///   what is left in it at the end is rejected.
/// - A4. Only the thread that the body began on touches `spare`.
@usableFromInline
final class ActorCore: @unchecked Sendable, CustomStringConvertible {
  // SAFETY: `current` and `body` as A1 says; the rest is constant, and guards itself.

  /// Its coroutines and its end.
  let lifetime = Lifetime()
  let name: String?
  let site: SourceSite
  let events = EventHub<MessageActorEvent>()

  /// The ask whose message is being handled: a reference of ours, as the next.
  ///
  /// Kept by hand, because the end of what is not there is a call, too.
  // SAFETY: made by `note(taken:)`, ended by `takeCurrent` or `deinit`.
  @exclusivity(unchecked)
  @usableFromInline
  final var current: Unmanaged<ReplyTicket>?

  /// The thread that the body began on.
  @usableFromInline
  final let thread = Atomic<UInt>(0)

  /// A ticket that is not in use, for the next ask from the body's own thread: it takes no allocation.
  // SAFETY: made by `letGo`, ended by `makeTicket` or `deinit`.
  @exclusivity(unchecked)
  @usableFromInline
  final var spare: Unmanaged<ReplyTicket>?

  /// The coroutine that may take messages.
  @exclusivity(unchecked)
  @usableFromInline
  final var body: UnsafeMutablePointer<Fiber>?

  /// Closes the mailbox.
  private let close: () -> Void
  /// The mailbox has been closed.
  private let isClosed: () -> Bool
  /// Empties the closed mailbox, and rejects the asks in it with an error that is made only if there are any.
  private let drain: (() -> any Error) -> Void

  init(
    name: String?,
    site: SourceSite,
    close: @escaping () -> Void,
    isClosed: @escaping () -> Bool,
    drain: @escaping (() -> any Error) -> Void
  ) {
    self.name = name
    self.site = site
    self.close = close
    self.isClosed = isClosed
    self.drain = drain
  }

  deinit {
    current?.release()
    spare?.release()
  }

  /// `The actor "counter"`, or where it was made.
  @usableFromInline
  var description: String { name.map { "The actor \"\($0)\"" } ?? "The actor made at \(site)" }

  // MARK: - Its life

  /// Runs the body in the calling coroutine.
  func live(isRestart: Bool, _ run: () throws -> Void) throws {
    let thread = currentThread()
    _ = self.thread.compareExchange(
      expected: 0,
      desired: UInt(bitPattern: thread),
      ordering: .relaxed
    )
    body = thread.runningFiber
    events.send(isRestart ? .restarted : .started)
    try run()
  }

  /// The body has ended, perhaps to begin again: the message that it was handling is answered.
  func incarnationEnded(_ error: (any Error)?, isFinal: Bool) {
    body = nil
    let unanswered = takeCurrent()
    let failure = error is CancellationError ? nil : error
    if let unanswered, error != nil {
      unanswered.promise?.reject(
        failure ?? (isFinal || isStopping ? stoppedError : .restarted(description))
      )
    }
    if let failure { events.send(.failed(failure)) }
  }

  /// The actor has ended for good.
  func end(_ error: (any Error)?) {
    let failure = error is CancellationError ? nil : error
    lifetime.fail(failure)
    close()
    drain { stoppedError }
    lifetime.finish { events.send(.stopped, isLast: true) }
  }

  /// Ends the actor when it has handled what is in its mailbox.
  func stop() { close() }

  /// Ends the actor at the next park point of its body.
  func cancel() {
    lifetime.cancel()
    close()
  }

  /// It is not to be started again.
  var isStopping: Bool { isClosed() }

  // MARK: - Its mailbox

  /// What the senders of messages that are not taken get.
  @usableFromInline
  var stoppedError: MessageActorError {
    .stopped(description, cause: lifetime.failure)
  }

  /// Before a message is taken: lets go of the last one's ask (A2).
  @inlinable @inline(__always)
  func beginTaking(_ operation: StaticString) {
    if body != currentThread().runningFiber || body == nil { refuse(operation) }
    if let ticket = takeCurrent() { letGo(of: ticket) }
  }

  /// Notes the ask of the message that was taken, if it is one.
  ///
  /// - Precondition: `beginTaking` has let go of the last one's.
  @inlinable @inline(__always)
  func note(taken ticket: consuming ReplyTicket?) {
    if let ticket { current = Unmanaged.passRetained(ticket) }
  }

  @inlinable @inline(__always)
  func takeCurrent() -> ReplyTicket? {
    // SAFETY: the reference of `note(taken:)`.
    current.take()?.takeRetainedValue()
  }

  /// Keeps a ticket that nobody else holds for the next ask, if there is none.
  ///
  /// If there is, those who ask are on other threads. Their promise is let go of at once, so that it ends where it was
  /// made, and its memory serves there again.
  @inlinable @inline(__always)
  func letGo(of ticket: consuming ReplyTicket) {
    guard cck_object_is_unshared(Unmanaged.passUnretained(ticket).toOpaque()) != 0 else { return }
    // May run code of the user's, if that rejects the ask; it cannot get at the ticket.
    ticket.end()
    guard isOwn(currentThread()), spare == nil else { return }
    spare = Unmanaged.passRetained(ticket)
  }

  /// The ticket for an ask, with its promise: those of an earlier one, if nobody knows them any more.
  @inlinable @inline(__always)
  func makeTicket<Value>(
    for type: Promise<Value>.Type,
    _ file: StaticString,
    _ line: UInt
  ) -> ReplyTicket {
    guard isOwn(currentThread()), let kept = spare.take() else {
      return ReplyTicket(Promise<Value>(file: file, line: line))
    }
    // SAFETY: the reference of `letGo`.
    let ticket = kept.takeRetainedValue()
    ticket.renew(for: type, SourceSite(file: file, line: line))
    return ticket
  }

  /// The calling thread is the one that the body began on (A4).
  @inlinable @inline(__always)
  func isOwn(_ thread: ThreadRecord) -> Bool {
    self.thread.load(ordering: .relaxed) == UInt(bitPattern: thread)
  }

  @usableFromInline @inline(never)
  func refuse(_ operation: StaticString) -> Never {
    fatalError(
      "\(operation): \(description) has a mailbox from which only its own body takes messages, one after the "
        + "other. To handle messages at the same time, take them in the body and launch a coroutine for each."
    )
  }
}

extension SchedulerCore {
  /// Launches a coroutine and calls `atEnd` once when it has ended, also if it could not begin.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - stackSize: Its stack.
  ///   - site: Where it was asked for.
  ///   - parent: Whose child it is; nil for nobody's.
  ///   - body: What it does.
  ///   - atEnd: Gets the error; called on this scheduler, before joiners go on, or by the caller if the scheduler
  ///     has shut down.
  /// - Returns: The handle.
  final func launchWatched(
    _ name: String?,
    _ stackSize: StackSize,
    _ site: SourceSite,
    parent: UnsafeMutablePointer<Fiber>?,
    _ body: @escaping () throws -> Void,
    atEnd: @escaping ((any Error)?) -> Void
  ) -> Coroutine {
    let thread = currentThread()
    // On the caller's own loop it stays there: its body need not be fit to run beside the caller.
    let isShared = isPool && thread.currentHome != home
    let fiber = ValueCoroutine<Void>.make(
      home: isShared ? homeOfNext(thread) : home,
      stackSize: stackSize,
      site: site,
      thread: thread,
      work: body
    )
    let coroutine = ValueCoroutine<Void>.handle(of: fiber)
    if let name { fiber.setName(name) }
    // SAFETY: called by the coroutine at its end, or below.
    coroutine.requiredExtras.finishHooks.append { [unowned(unsafe) coroutine] in
      atEnd(coroutine.failure)
    }
    if isShared {
      fiber.beginShared(.wide, .queued, parent, thread)
    } else {
      fiber.begin(.queued, parent, thread)
    }
    // A scheduler that has shut down ends the coroutine without its hooks; otherwise they are gone by then.
    if coroutine.isOver, let hooks = coroutine.extras?.finishHooks, !hooks.isEmpty {
      coroutine.extras?.finishHooks = []
      for hook in hooks { hook() }
    }
    return coroutine
  }
}

// SPDX-License-Identifier: Apache-2.0

extension MessageActor {
  // MARK: - tell

  /// Sends a message, and does not wait for it to be handled.
  ///
  /// With a `bounded` mailbox it is a park point, and waits while the mailbox is full. With any other it never parks,
  /// works in cancelled code and from any thread; what happens when the mailbox is full is said at
  /// `MailboxCapacity`.
  ///
  /// *Cancellation:* (bounded) takes the message back.
  ///
  /// - Parameter message: The message; it must not be used afterwards if it is not `Sendable`.
  /// - Throws: `MessageActorError.stopped`, `MessageActorError.mailboxFull`; with a bounded mailbox also
  ///   `CancellationError` and `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync, message: "In async code, write `try await actor.tell(message)`.")
  public func tell(@_eagerMove _ message: sending Message) throws {
    // Handed on, and not kept to the end of this call: what is made to be told is not retained on its way.
    try deliver(Envelope(message, nil), "MessageActor.tell(_:)")
  }

  /// Sends a message from a task, and does not wait for it to be handled.
  ///
  /// Suspends while a bounded mailbox is full.
  ///
  /// - Parameter message: The message.
  /// - Throws: `MessageActorError.stopped`, `MessageActorError.mailboxFull`; with a bounded mailbox also
  ///   `CancellationError`.
  public func tell(_ message: sending Message) async throws {
    try await deliver(Envelope(message, nil))
  }

  /// Sends a message if there is room in the mailbox.
  ///
  /// Never parks; may be called from any thread.
  ///
  /// - Parameter message: The message.
  /// - Returns: `sent`, or the message back with the reason.
  @inlinable
  @discardableResult
  public func tellIfReady(_ message: sending Message) -> SendOutcome<Message> {
    channel.sendIfReady(Envelope(message, nil)).unwrapped()
  }

  // MARK: - ask

  /// Sends a message that asks for an answer, and returns the promise of it.
  ///
  /// ```swift
  /// let balance = try account.ask { .balance($0) }.await()
  /// ```
  ///
  /// Waits for room in a full `bounded` mailbox as `tell` does, but never for the answer: that is for the promise,
  /// which is settled in any case.
  ///
  /// | | the promise is |
  /// |---|---|
  /// | answered by `reply(value)` or `reply.fail(error)` | fulfilled, or rejected with the error |
  /// | the reply is dropped without an answer | rejected with `PromiseError.abandoned` |
  /// | the actor throws while handling it | rejected with that error |
  /// | the actor stops before it takes the message, or while handling it | rejected with `MessageActorError.stopped` |
  /// | its supervisor restarts it meanwhile, for another's sake | rejected with `MessageActorError.restarted` |
  /// | the message could not be sent | rejected with what `tell` throws |
  ///
  /// - Parameters:
  ///   - file: Where it is asked; leave out.
  ///   - line: Where it is asked; leave out.
  ///   - message: Makes the message around the reply.
  /// - Returns: The promise of the answer.
  @inlinable
  @available(*, noasync, message: "In async code, write `try await actor.ask { … }.value()`.")
  public func ask<Value>(
    file: StaticString = #fileID,
    line: UInt = #line,
    _ message: (sending Reply<Value>) -> sending Message
  ) -> Promise<Value> {
    let ticket = core.makeTicket(for: Promise<Value>.self, file, line)
    let promise = ticket.firstReference(of: Value.self)
    // What is thrown the promise has been rejected with.
    try? deliver(
      Envelope(message(Reply(Unmanaged.passUnretained(ticket).retainAlone())), consume ticket),
      "MessageActor.ask(_:)"
    )
    return promise
  }

  /// Sends a message that asks for an answer, from a task, and returns the promise of it.
  ///
  /// Suspends while a bounded mailbox is full.
  ///
  /// - Parameters:
  ///   - file: Where it is asked; leave out.
  ///   - line: Where it is asked; leave out.
  ///   - message: Makes the message around the reply.
  /// - Returns: The promise of the answer.
  public func ask<Value>(
    file: StaticString = #fileID,
    line: UInt = #line,
    _ message: (sending Reply<Value>) -> sending Message
  ) async -> Promise<Value> {
    let ticket = core.makeTicket(for: Promise<Value>.self, file, line)
    let promise = ticket.promise(of: Value.self)
    try? await deliver(Envelope(message(Reply(ticket)), consume ticket))
    return promise
  }

  /// Sends a message that asks for an answer, if there is room in the mailbox.
  ///
  /// Never parks; may be called from any thread.
  ///
  /// - Parameters:
  ///   - file: Where it is asked; leave out.
  ///   - line: Where it is asked; leave out.
  ///   - message: Makes the message around the reply.
  /// - Returns: The promise of the answer; rejected with `MessageActorError.mailboxFull` if there was no room.
  @inlinable
  public func askIfReady<Value>(
    file: StaticString = #fileID,
    line: UInt = #line,
    _ message: (sending Reply<Value>) -> sending Message
  ) -> Promise<Value> {
    let ticket = core.makeTicket(for: Promise<Value>.self, file, line)
    let promise = ticket.promise(of: Value.self)
    try? deliverIfReady(Envelope(message(Reply(ticket)), consume ticket))
    return promise
  }

  // MARK: - How it is done

  // An ask that is not delivered is rejected with what these throw. The ticket goes away after that, not before: its
  // end would be an answer, too.

  @inlinable @inline(__always)
  func deliver(
    @_eagerMove _ envelope: sending Envelope<Message>,
    _ operation: StaticString
  ) throws {
    if waits { return try deliverWaiting(envelope, operation) }
    try deliverIfReady(consume envelope)
  }

  /// Apart: who has a mailbox that does not wait pays nothing for it.
  @inlinable @inline(never)
  func deliverWaiting(_ envelope: sending Envelope<Message>, _ operation: StaticString) throws {
    let ticket = envelope.ticket
    do {
      try channel.send(envelope, operation) { _ in }
    } catch {
      throw refuse(ticket, error)
    }
  }

  @inlinable @inline(__always)
  func deliverIfReady(_ envelope: consuming sending Envelope<Message>) throws {
    switch channel.sendIfReady(consume envelope) {
    case .sent: return
    case .full(let envelope):
      if envelope.ticket != nil || fails { throw refuse(envelope.ticket, fullError) }
    case .closed(let envelope): throw refuse(envelope.ticket, core.stoppedError)
    }
  }

  private func deliver(_ envelope: sending Envelope<Message>) async throws {
    if waits {
      let ticket = envelope.ticket
      do {
        try await channel.send(envelope)
      } catch {
        throw refuse(ticket, error)
      }
    } else {
      try deliverIfReady(consume envelope)
    }
  }

  /// Rejects the ask that was not delivered, if it was one.
  ///
  /// - Returns: The error, in the actor's words.
  @usableFromInline @inline(never)
  func refuse(_ ticket: ReplyTicket?, _ error: any Error) -> any Error {
    var error = error
    if case ChannelError.closed = error { error = core.stoppedError }
    ticket?.promise?.reject(error)
    return error
  }

  @usableFromInline
  var fullError: MessageActorError { .mailboxFull(core.description, capacity: channel.capacity) }
}

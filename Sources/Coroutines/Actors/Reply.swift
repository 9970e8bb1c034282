// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel

/// The right to answer one ask: what a message carries for whoever handles it.
///
/// ```swift
/// enum Account {
///   case deposit(Int)
///   case balance(Reply<Int>)
/// }
/// let balance = try account.ask { .balance($0) }.await()
/// ```
///
/// It may be kept, copied, and handed to another coroutine or thread that will answer. The first answer counts.
/// When the last copy goes away without an answer, the ask is rejected with `PromiseError.abandoned`, with the
/// place of the ask: for one that the actor's own code drops, when the actor takes its next message.
public struct Reply<Value>: Sendable {
  @usableFromInline let ticket: ReplyTicket

  /// For a ticket of a promise of this type.
  @inlinable @inline(__always)
  init(_ ticket: ReplyTicket) {
    self.ticket = ticket
  }

  @inlinable @inline(__always)
  var promise: Promise<Value> { ticket.promise(of: Value.self) }

  /// Calls `body` with the promise, without counting it.
  @inlinable @inline(__always)
  func withPromise<Answer>(_ body: (Promise<Value>) -> Answer) -> Answer {
    // SAFETY: the ticket keeps its promise as long as anybody but the actor holds the ticket, as this reply does.
    withExtendedLifetime(ticket) {
      Unmanaged.passUnretained(promise)._withUnsafeGuaranteedRef(body)
    }
  }

  /// Answers with a value.
  ///
  /// From any thread; does not park.
  ///
  /// - Parameter value: The answer.
  /// - Returns: False if the ask was answered or cancelled before: the value is dropped.
  @inlinable
  @discardableResult
  public func callAsFunction(_ value: sending Value) -> Bool {
    // SAFETY: `body` is called once, here.
    nonisolated(unsafe) let value = value
    return withPromise { $0.fulfill(value) }
  }

  /// Answers with an error.
  ///
  /// From any thread; does not park.
  ///
  /// - Parameter error: What the one who asked gets.
  /// - Returns: False if the ask was answered or cancelled before.
  @discardableResult
  public func fail(_ error: any Error) -> Bool {
    promise.reject(error)
  }

  /// Answers with what `work` returns, or with what it throws.
  ///
  /// Parks if `work` does. The error goes to the one who asked, and the actor goes on.
  ///
  /// - Parameter work: Makes the answer.
  public func answer(_ work: () throws -> Value) {
    do {
      // SAFETY: the value is new, and nobody else knows it.
      nonisolated(unsafe) let value = try work()
      callAsFunction(value)
    } catch {
      fail(error)
    }
  }

  /// Nobody has answered, and nobody has cancelled the promise: work on the answer is not in vain.
  public var isPending: Bool { promise.isPending }

  /// Registers what stops the work on the answer when the promise of the ask is cancelled.
  ///
  /// Called at once if it has been already.
  ///
  /// - Parameter hook: What to do; must not park.
  public func onCancel(_ hook: @escaping @Sendable () -> Void) {
    promise.onCancel { _ in hook() }
  }
}

extension Reply where Value == Void {
  /// Answers that it is done.
  ///
  /// - Returns: False if the ask was answered or cancelled before.
  @discardableResult
  public func callAsFunction() -> Bool { callAsFunction(()) }
}

/// What the copies of a reply share; its end, unanswered, rejects the ask.
///
/// One that only the actor holds when it takes its next message is used for the next ask (`ActorCore.spare`).
@usableFromInline
final class ReplyTicket: @unchecked Sendable {
  // SAFETY: `held` changes only while one thread holds the ticket.

  /// The promise of the ask, a reference of ours; while the ticket is not in use, none or one that may serve for the next
  /// ask.
  // SAFETY: made by `init` or `renew`, ended by `letGo`, `renew` or `deinit`.
  @exclusivity(unchecked)
  @usableFromInline
  final var held: Unmanaged<AnyPromise>?

  @inlinable
  init(_ promise: consuming AnyPromise) {
    held = Unmanaged.passRetained(promise)
  }

  deinit {
    end()
    held?.release()
  }

  /// The promise of the ask.
  final var promise: AnyPromise? { held?.takeUnretainedValue() }

  /// The promise of the ask.
  @inlinable @inline(__always)
  final func promise<Value>(of type: Value.Type) -> Promise<Value> {
    // SAFETY: who asks this has the ticket of an ask for a value of this type.
    unsafeDowncast(held.unsafelyUnwrapped.takeUnretainedValue(), to: Promise<Value>.self)
  }

  /// A reference to the promise of an ask that is being made.
  ///
  /// - Precondition: Nobody else knows the ticket yet, nor the promise.
  @inlinable @inline(__always)
  final func firstReference<Value>(of type: Value.Type) -> Promise<Value> {
    // SAFETY: as above.
    unsafeDowncast(held.unsafelyUnwrapped.retainAlone(), to: Promise<Value>.self)
  }

  /// Nobody is left who could answer.
  ///
  /// A promise that only waits to be freed is kept for the next ask: if nobody else holds it by then.
  @inlinable @inline(__always)
  final func end() {
    guard let held, !held._withUnsafeGuaranteedRef({ !$0.isPending && $0.holdsNothing }) else {
      return
    }
    letGo(of: held)
  }

  @usableFromInline @inline(never)
  final func letGo(of held: Unmanaged<AnyPromise>) {
    self.held = nil
    // SAFETY: the ticket's reference.
    let promise = held.takeRetainedValue()
    if promise.isPending { promise.reject(PromiseError.unanswered(promise.creationSite)) }
  }

  /// Makes a ticket that has ended one of a new ask.
  @inlinable @inline(__always)
  final func renew<Value>(for type: Promise<Value>.Type, _ site: SourceSite) {
    if let held, held._withUnsafeGuaranteedRef({ $0.isFree(type: type) }) {
      held._withUnsafeGuaranteedRef { $0.beginAnew(site) }
    } else {
      held?.release()
      held = Unmanaged.passRetained(SparePromises.make(site) as Promise<Value>)
    }
  }
}

/// A message on its way, and the ask that it belongs to, if it is one.
@usableFromInline
struct Envelope<Message> {
  @usableFromInline let message: Message
  @usableFromInline let ticket: ReplyTicket?

  @inlinable @inline(__always)
  init(_ message: consuming Message, _ ticket: consuming ReplyTicket?) {
    self.message = message
    self.ticket = ticket
  }

  /// Takes it apart.
  @inlinable @inline(__always)
  consuming func open() -> (Message, ReplyTicket?) { (message, ticket) }
}

extension Unmanaged {
  /// One more reference to an object that nobody knows but the caller: without an atomic operation.
  @inlinable @inline(__always)
  func retainAlone() -> Instance {
    // SAFETY: the reference that is made here is the one that is taken.
    cck_object_retain_alone(toOpaque())
    return takeRetainedValue()
  }
}

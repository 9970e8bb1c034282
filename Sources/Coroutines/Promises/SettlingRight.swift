// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// The right to settle a promise, once; held by the closures and resolvers that may.
///
/// The first call counts, also when it was `follow` and the promise is pending still. When the last holder goes
/// away without a call, the promise is rejected as abandoned.
@usableFromInline
final class SettlingRight<Value>: @unchecked Sendable {
  // SAFETY: `next` is written by the one call that has set `isGivenAway`, before `phase` says so, and read after.

  /// Where the question stands that this right was lent for.
  private enum Phase {
    /// Nobody is being asked.
    static var idle: UInt8 { 0 }
    /// A then-able is being asked.
    static var asking: UInt8 { 1 }
    /// It is still being asked, and has named another one, which is in `next`.
    static var named: UInt8 { 2 }
  }

  @usableFromInline let promise: Promise<Value>
  @usableFromInline let hasBegun = AtomicFlag()
  @usableFromInline let isGivenAway = AtomicFlag()
  @usableFromInline let phase = Atomic<UInt8>(0)
  @exclusivity(unchecked)
  @usableFromInline var next: (any Thenable<Value>)?

  /// The right to settle a promise.
  ///
  /// - Parameters:
  ///   - promise: The promise.
  ///   - hasBegun: False if its work is going to say so. Work that never began was cancelled before, with the
  ///     code that made the promise.
  @inlinable
  init(_ promise: Promise<Value>, hasBegun: Bool = true) {
    self.promise = promise
    if hasBegun { self.hasBegun.set() }
  }

  @inlinable
  deinit {
    // Most have been given away.
    if !isGivenAway.isSet { abandon() }
  }

  @usableFromInline @inline(never)
  func abandon() {
    guard promise.isPending else { return }
    promise.reject(
      hasBegun.isSet ? PromiseError.abandoned(promise.creationSite) : CancellationError()
    )
  }

  /// The work behind the promise has begun.
  @inlinable
  func begin() { hasBegun.set() }

  // MARK: - Settling

  // Who gives the right away is the one that counts: what comes at the same time on another thread is told so.

  @inlinable
  func fulfill(@_eagerMove _ value: sending Value) -> Bool {
    guard isGivenAway.setFirst() else { return false }
    return promise.fulfill(value)
  }

  @inlinable
  func reject(_ error: any Error) -> Bool {
    isGivenAway.setFirst() && promise.reject(error)
  }

  func settle(_ outcome: Promise<Value>.Outcome) -> Bool {
    isGivenAway.setFirst() && promise.settle(outcome)
  }

  func follow(_ thenable: sending some Thenable<Value>) -> Bool {
    guard isGivenAway.setFirst(), promise.isPending else { return false }
    next = thenable
    let isLater = phase.compareExchange(
      expected: Phase.asking,
      desired: Phase.named,
      ordering: .acquiringAndReleasing
    ).exchanged
    if !isLater, let thenable = takeNext() { promise.adopt(thenable) }
    return true
  }

  private func takeNext() -> (any Thenable<Value>)? {
    defer { next = nil }
    return next
  }

  // MARK: - Asking

  /// Asks a then-able for its outcome, on behalf of a promise.
  ///
  /// - Returns: The then-able that it named meanwhile, to be asked in its place.
  static func ask(
    _ thenable: some Thenable<Value>,
    for promise: Promise<Value>
  ) -> (any Thenable<Value>)? {
    let right = SettlingRight(promise)
    right.phase.store(Phase.asking, ordering: .relaxed)
    do {
      try thenable.whenSettled(CallbackResolver(right))
    } catch {
      _ = right.reject(error)
    }
    let last = right.phase.exchange(Phase.idle, ordering: .acquiringAndReleasing)
    return last == Phase.named ? right.takeNext() : nil
  }
}

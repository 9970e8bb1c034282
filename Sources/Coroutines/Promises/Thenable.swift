// SPDX-License-Identifier: Apache-2.0

/// Anything that tells later what it has come to: another library's promise or future, a call with callbacks.
///
/// One method makes it a source for promises:
///
/// ```swift
/// extension OtherFuture: Thenable {
///   func whenSettled(_ resolver: CallbackResolver<Value>) {
///     onValue { resolver($0) }
///     onError { resolver(throwing: $0) }
///   }
/// }
///
/// let value = try Promise(following: future).await()
/// let next = promise.then { makeFuture(for: $0) }  // a promise of the future's value
/// ```
///
/// The promise trusts it with nothing:
///
/// | the then-able | the promise |
/// |---|---|
/// | calls the resolver | is settled so |
/// | calls it again, in whatever way and from whatever thread | ignores that |
/// | names another then-able: `resolver.follow(other)` | comes to what that one comes to |
/// | throws, without having called | is rejected with the error |
/// | throws after a call | ignores the error |
/// | lets go of the resolver without a call | is rejected with `PromiseError.abandoned` |
/// | follows itself, by whatever detour | is rejected with `PromiseError.adoptsItself` |
public protocol Thenable<Value> {
  /// What it comes to, unless it fails.
  associatedtype Value

  /// Has the resolver called when the outcome is there, or at once if it is.
  ///
  /// Called once for each promise that follows this, where that promise is told to. May park if the caller may.
  ///
  /// - Parameter resolver: Takes the outcome; keep it until then, and no longer.
  /// - Throws: Why it has failed, if the resolver has not been called.
  func whenSettled(_ resolver: CallbackResolver<Value>) throws
}

extension Promise: Thenable {
  /// Has the resolver called when this promise is settled, or at once if it is.
  ///
  /// - Parameter resolver: Takes the outcome.
  public func whenSettled(_ resolver: CallbackResolver<Value>) {
    guard resolver.right.promise.beginFollowing(self) else {
      resolver(throwing: PromiseError.adoptsItself(creationSite))
      return
    }
    observe { resolver.settle($0) }
  }
}

extension ProgressPromise: Thenable {
  /// Has the resolver called when this promise is settled, or at once if it is.
  ///
  /// - Parameter resolver: Takes the outcome.
  public func whenSettled(_ resolver: CallbackResolver<Value>) {
    promise.whenSettled(resolver)
  }
}

extension Promise {
  /// A promise that comes to what a then-able comes to.
  ///
  /// - Parameters:
  ///   - thenable: What to follow; asked now.
  ///   - file: Where the promise is made; leave out.
  ///   - line: Where the promise is made; leave out.
  public convenience init(
    following thenable: some Thenable<Value>,
    file: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(file: file, line: line)
    follow(thenable)
  }

  /// Settles the promise as a then-able will be.
  ///
  /// Until then the promise can be settled and cancelled by others. To promise that only `thenable` counts, follow
  /// it with a `CallbackResolver`.
  ///
  /// - Parameter thenable: What to follow; asked before this returns.
  public func follow(_ thenable: some Thenable<Value>) {
    adopt(thenable)
  }

  /// A promise that follows the then-able that `work` makes of the value.
  ///
  /// - Parameter work: Called where this promise is settled. What it throws rejects the new promise.
  /// - Returns: The new promise.
  @discardableResult
  public func then<Next: Thenable>(
    _ work: @escaping @Sendable (Value) throws -> Next
  ) -> Promise<Next.Value> {
    derive { outcome, next, rest in
      do {
        next.follow(try work(outcome.get()))
      } catch {
        next.settle(.failure(error), &rest)
      }
    }
  }

  /// A promise that follows a then-able in place of an error.
  ///
  /// - Parameter work: Makes the then-able; called where this promise is rejected. What it throws rejects the
  ///   new promise.
  /// - Returns: The new promise.
  @discardableResult
  public func recover<Next: Thenable>(
    _ work: @escaping @Sendable (any Error) throws -> Next
  ) -> Promise where Next.Value == Value {
    derive { outcome, next, rest in
      guard case .failure(let error) = outcome else {
        next.settle(outcome, &rest)
        return
      }
      do {
        next.follow(try work(error))
      } catch {
        next.settle(.failure(error), &rest)
      }
    }
  }

  /// Asks a then-able, then the one that it names, and so on; in a loop, because such a line may be longer than
  /// the stack is deep.
  func adopt(_ first: any Thenable<Value>) {
    var asked = first
    // A ring is found by an object that comes up again (Brent 1980): the mark moves on after 1, 2, 4, … steps.
    var mark: (any Thenable<Value>)?
    var (steps, limit) = (0, 1)
    while let next = SettlingRight<Value>.ask(asked, for: self) {
      if steps == limit { (mark, steps, limit) = (asked, 0, limit * 2) }
      if Self.isSame(next, asked) || mark.map({ Self.isSame(next, $0) }) == true {
        reject(PromiseError.adoptsItself(creationSite))
        return
      }
      asked = next
      steps += 1
    }
  }

  /// Whether two then-ables are one object; values have no identity.
  private static func isSame(_ one: any Thenable<Value>, _ other: any Thenable<Value>) -> Bool {
    guard type(of: one) is AnyClass, type(of: other) is AnyClass else { return false }
    return (one as AnyObject) === (other as AnyObject)
  }
}

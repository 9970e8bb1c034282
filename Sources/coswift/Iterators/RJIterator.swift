// SPDX-License-Identifier: Apache-2.0
// The names are those of coobjc, coswift and RJIterator.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Coroutines

/// Runs a function piece by piece: each call of `next` runs it to its next `rj_yield`.
///
/// ```swift
/// let talk = RJIterator(block: { greeting in
///   let age = try rj_yield("\(greeting ?? "?"), your age?")
///   let name = try rj_yield("your name?")
///   return "\(name ?? "?"), \(age ?? "?")"
/// }, arg: "Hello")
/// talk.next()         // {value: Hello, your age?, done: false}
/// talk.next(28)       // {value: your name?, done: false}
/// talk.next("LiLei")  // {value: LiLei, 28, done: true}
/// ```
///
/// RJIterator's iterator with the semantics of ECMAScript's generators. It needs no queue and no coroutine; in
/// a coroutine the function may wait. It begins at the first `next`. After the end, every `next` gives the
/// return value again. Dropping an iterator unwinds its function: the `rj_yield` where it stands throws.
///
/// An iterator belongs to one user at a time. One that is started on the main thread, outside of tasks and
/// coroutines, must be used there.
public final class RJIterator: @unchecked Sendable {
  // SAFETY: the machine finds out if two use it at a time.
  let machine: RJMachine

  /// An iterator over a block that returns a value.
  ///
  /// - Parameters:
  ///   - block: The function; it yields with `rj_yield`.
  ///   - arg: What it is called with.
  public init(block: @escaping (Any?) throws -> Any?, arg: Any?) {
    machine = RJMachine(isVoid: false) { try block(arg) }
  }

  /// An iterator over a block that returns nothing.
  ///
  /// - Parameter standardBlock: The function; it yields with `rj_yield`.
  public init(standardBlock: @escaping () throws -> Void) {
    machine = RJMachine(isVoid: true) {
      try standardBlock()
      return nil
    }
  }

  /// An iterator over a function.
  ///
  /// - Parameters:
  ///   - withFunc: The function; it yields with `rj_yield`.
  ///   - arg: What it is called with.
  public init(withFunc: @escaping (Any?) throws -> Any?, arg: Any?) {
    machine = RJMachine(isVoid: false) { try withFunc(arg) }
  }

  /// An iterator over a C function.
  ///
  /// C cannot be unwound: such a function must run to its end before the iterator is dropped.
  ///
  /// - Parameters:
  ///   - withCFunction: The function. What it calls back may yield with `rj_yield`.
  ///   - arg: What it is called with.
  public init(
    withCFunction: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
    arg: UnsafeMutableRawPointer?
  ) {
    machine = RJMachine(isVoid: false) { withCFunction(arg) }
  }

  /// Runs the function to its next yield, or its end.
  ///
  /// The `rj_yield` where it stands returns what it yielded.
  ///
  /// - Returns: What was yielded; or the return value, or in `error` what was thrown, with `done`.
  @discardableResult
  public func next() -> RJResult { machine.next() }

  /// Runs the function to its next yield, or its end.
  ///
  /// - Parameter value: What the `rj_yield` where it stands returns; dropped by the first call.
  /// - Returns: As `next()`.
  @discardableResult
  public func next(_ value: Any?) -> RJResult { machine.next(value) }

  /// Makes the `rj_yield` where the function stands throw.
  ///
  /// One that has not started ends without running; one that has ended stays so.
  ///
  /// - Parameter error: What it throws.
  /// - Returns: What is yielded or returned next, if the function catches it; else the error, with `done`.
  @discardableResult
  public func `throw`(_ error: any Error) -> RJResult { machine.throw(error) }

  /// Makes the function return from the `rj_yield` where it stands; its `defer` blocks run.
  ///
  /// One that has not started ends without running; one that has ended stays so.
  ///
  /// - Parameter value: What it returns.
  /// - Returns: The value, with `done`; unless a `catch` in the function does otherwise.
  @discardableResult
  public func `return`(_ value: Any?) -> RJResult { machine.return(value) }
}

/// Hands a value to whoever asked the running iterator, and waits for the next call.
///
/// Works in the iterator's function and in all that it calls.
///
/// An `RJIterator` is not handed over itself: its values and its return value (if it has one) come out one
/// after the other. What is sent meanwhile is not passed on to it.
///
/// - Parameter value: The value.
/// - Returns: What the waking `next(_:)` sent; after a plain `next()`, the value itself, or what the inner
///   iterator returned.
/// - Throws: What `throw(_:)` throws in; an error that ends the function when the iterator is dropped or
///   `return(_:)` is called; what the inner iterator throws; `RJError.outsideIterator`.
@discardableResult
public func rj_yield(_ value: Any?) throws -> Any? {
  guard let mouth = RJMouth.current else { throw RJError.outsideIterator }
  if let inner = value as? RJIterator { return try yieldAll(of: inner, mouth) }
  return try mouth.hand(value) ?? value
}

/// Yields what another iterator yields, then what it returns.
private func yieldAll(of inner: RJIterator, _ mouth: RJMouth) throws -> Any? {
  do {
    while true {
      let result = inner.next()
      if let error = result.error { throw error as? any Error ?? RJError.alreadyRunning }
      if result.done {
        if inner.machine.isVoid { return nil }
        return try mouth.hand(result.value) ?? result.value
      }
      _ = try mouth.hand(result.value)
    }
  } catch {
    // The outer function leaves: the inner one unwinds first.
    inner.return(nil)
    throw error
  }
}

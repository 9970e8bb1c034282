// SPDX-License-Identifier: Apache-2.0

extension Generator {
  /// Turns calls into values: what a function hands to its callback, while it runs, one by one.
  ///
  /// For parsers, visitors and C functions that call back and may not throw. The function runs on the
  /// generator's stack and stands still, in the middle of its callback, until the next value is asked for.
  ///
  /// ```swift
  /// let names = Generator<String>.callbacks { emit in
  ///   dictionary.enumerate { name, stop in stop = !emit(name) }
  /// }
  /// ```
  ///
  /// The function must bear that other code runs on its thread meanwhile: no lock held, no thread-local
  /// state in use.
  ///
  /// - Parameters:
  ///   - stackSize: Address space for the function's stack; see `StackSize`.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - body: Calls the function, and returns when that has ended. `emit` returns false when no more
  ///     values are wanted: the function should stop then, and further values are dropped. What the body
  ///     throws ends the sequence and is then in `error`.
  /// - Returns: The values.
  @inlinable
  public static func callbacks(
    stackSize: StackSize = .default,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: @escaping (_ emit: @escaping (Element) -> Bool) throws -> Void
  ) -> Coroutines.Generator<Element> {
    Coroutines.Generator<Element>(stackSize: stackSize, file: file, line: line) { yield in
      let interest = Interest()
      try body { element in
        guard !interest.isGone.isSet else { return false }
        do {
          try yield(element)
        } catch {
          interest.isGone.set()
        }
        return !interest.isGone.isSet
      }
      if interest.isGone.isSet { throw CancellationError() }
    }
  }

  /// Turns events that come at any time, from any thread, into values: a delegate's, a notification's.
  ///
  /// Asking for a value parks the calling coroutine until an event comes. Events that nobody has asked for
  /// are kept, as the capacity says.
  ///
  /// ```swift
  /// let readings = Generator<Reading>.events(.conflated) { events in
  ///   let observer = sensor.observe { events.send($0) }
  ///   return { sensor.remove(observer) }
  /// }
  /// ```
  ///
  /// *Cancellation:* of the asking coroutine ends the generator. Whatever ends it, `register`'s closure is
  /// called once.
  ///
  /// - Parameters:
  ///   - capacity: How many events are kept, and which.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - register: Called when the first value is asked for; returns what ends the events.
  /// - Returns: The events.
  @inlinable
  public static func events(
    _ capacity: ChannelCapacity = .unbounded,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ register: @escaping (EventSink<Element>) throws -> () -> Void
  ) -> Coroutines.Generator<Element> {
    Coroutines.Generator<Element>(file: file, line: line) { yield in
      let sink = EventSink<Element>(capacity)
      let stop = try register(sink)
      defer {
        stop()
        sink.finish()
      }
      while let element = try sink.next() { try yield(consume element) }
    }
  }

  /// As `next()`, but throws what the body threw instead of leaving it in `error`.
  ///
  /// - Returns: The value; nil when the body has returned.
  /// - Throws: What the body threw.
  @inlinable @inline(__always)
  public func nextOrThrow() throws -> Element? {
    if let element = next() { return element }
    if let error { throw error }
    return nil
  }
}

/// Whether anybody wants more of what a function hands to its callback.
@usableFromInline
final class Interest: Sendable {
  // A variable that the callback captured would be checked for overlapping accesses by the runtime, twice a value: three times what
  // all else takes. And a callback may be called on a thread that it does not belong to, where the yield refuses it.
  @usableFromInline let isGone = AtomicFlag()

  @inlinable
  init() {}
}

/// Where the callbacks of a `Generator.events` put what comes.
public struct EventSink<Element>: Sendable {
  @usableFromInline let channel: Channel<Element>
  @usableFromInline let end = Promise<Void>()

  @inlinable
  init(_ capacity: ChannelCapacity) {
    channel = Channel(capacity: capacity)
  }

  /// Adds an event; from any thread, without waiting.
  ///
  /// - Parameter element: The event.
  /// - Returns: False if it was dropped: the capacity is used up, or the sequence has ended.
  @inlinable
  @discardableResult
  public func send(_ element: sending Element) -> Bool {
    if case .sent = channel.sendIfReady(consume element) { return true }
    return false
  }

  /// Ends the sequence, after the events that are there.
  ///
  /// - Parameter error: What the sequence ends with; nil for a normal end.
  public func finish(throwing error: (any Error)? = nil) {
    if let error { end.reject(error) } else { end.fulfill(()) }
    channel.close()
  }

  /// Parks until there is an event; nil at the end.
  @inlinable
  func next() throws -> Element? {
    do {
      return try channel.receive()
    } catch ChannelError.closed {
      if let error = end.error { throw error }
      return nil
    }
  }
}

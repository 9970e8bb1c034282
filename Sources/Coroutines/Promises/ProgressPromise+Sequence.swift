// SPDX-License-Identifier: Apache-2.0

extension ProgressPromise: Sequence {
  /// Gives each fraction that the loop is fast enough for, and the last one.
  public struct Iterator: IteratorProtocol {
    private let progress: ProgressPromise
    private var position = ProgressMeter.Position()

    init(_ progress: ProgressPromise) {
      self.progress = progress
    }

    /// Parks until there is a fraction that this iterator has not given.
    ///
    /// Starts a lazy promise.
    ///
    /// *Cancellation:* ends the sequence, since a sequence cannot throw: the next park point throws. The
    /// promise is left as it is. Outside a coroutine it stops the program with a message.
    ///
    /// - Returns: The latest fraction; nil once the promise is settled and the last fraction given, or in
    ///   cancelled code.
    public mutating func next() -> Double? {
      do {
        // Before the start: code that may not park leaves the promise untouched.
        try Coroutine.checkCancellation()
        if Coroutine.current != nil { progress.start() }
        return try progress.meter.next(after: &position)
      } catch let error as CoroutineError {
        fatalError("for … in a progress: \(error)")
      } catch {
        return nil
      }
    }
  }

  /// An iterator that begins with the latest fraction, if there is one.
  ///
  /// - Returns: The iterator; several do not disturb one another.
  public func makeIterator() -> Iterator { Iterator(self) }

  /// The fractions, for tasks of Swift concurrency: `for await fraction in promise.fractions`.
  public var fractions: Fractions { Fractions(progress: self) }

  /// What a task sees of the progress; as the iteration by a coroutine.
  public struct Fractions: AsyncSequence, Sendable {
    let progress: ProgressPromise

    /// Gives the fractions to a task.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let progress: ProgressPromise
      private var position = ProgressMeter.Position()

      init(progress: ProgressPromise) {
        self.progress = progress
      }

      /// Suspends the task until there is a fraction that this iterator has not given.
      ///
      /// *Cancellation:* of the task ends the sequence.
      ///
      /// - Returns: The latest fraction; nil once the promise is settled and the last fraction given, or
      ///   in a cancelled task.
      public mutating func next() async -> Double? {
        progress.start()
        return try? await progress.meter.nextInTask(after: &position)
      }
    }

    /// An iterator that begins with the latest fraction, if there is one.
    ///
    /// - Returns: The iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(progress: progress) }
  }
}

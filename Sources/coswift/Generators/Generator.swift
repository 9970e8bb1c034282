// SPDX-License-Identifier: Apache-2.0
// The names are those of coobjc, coswift and RJIterator.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoroutineKernel
public import Dispatch

/// Produces values one at a time, each when it is asked for, by code that yields them.
///
/// ```swift
/// let numbers = co_sequence(Int.self) {
///   var n = 0
///   while true {
///     try yield { n }
///     n += 1
///   }
/// }
/// co_launch { print(try numbers.next(), try numbers.next()) }  // 0 1
/// ```
///
/// The body is a coroutine on the generator's queue; values may be asked for in coroutines on any queue, by
/// several at a time: first come, first served. The body runs only when somebody asks, and stops at its yield.
/// Dropping the generator cancels it, and its `defer` blocks run.
open class Generator<T>: Coroutine, @unchecked Sendable {
  // SAFETY: as for Coroutine; the machine guards its own state.

  private let machine: GeneratorMachine<T>

  /// A generator; its body begins when a value is first asked for.
  ///
  /// - Parameters:
  ///   - block: The body; it yields values with `yield { }`.
  ///   - queue: Where it runs; nil for the current queue.
  ///   - stackSize: Bytes for its stack; see `Coroutine.init`.
  public override init(
    block: @escaping () throws -> Void,
    on queue: DispatchQueue? = nil,
    stackSize: UInt32? = nil
  ) {
    let machine = GeneratorMachine<T>()
    self.machine = machine
    super.init(block: block, on: queue, stackSize: stackSize)
    life.machine = machine
    life.prologue = { try machine.awaitRequest() }
    life.onEnd = { [unowned life] error in
      machine.end(
        life.isCancelled ? COError.generatorCancelled : error ?? COError.generatorClosed
      )
    }
  }

  deinit {
    // Nobody can ask any more.
    life.cancel()
  }

  override var isHeldByBody: Bool { false }

  /// Waits for the next value.
  ///
  /// If the coroutine is cancelled meanwhile, the value is kept for the next who asks.
  ///
  /// - Returns: The value.
  /// - Throws: `COError.generatorClosed` when the body has ended, or what it threw;
  ///   `COError.generatorCancelled`; `COError.coroutineCancelled` if the caller is cancelled;
  ///   `COError.invalidCoroutine` outside a coroutine.
  open func next() throws -> T {
    try nextWithParam(nil)
  }

  /// Waits for the next value, and tells the body something.
  ///
  /// - Parameter param: What `co_getYieldParam()` gives the body while it makes this value.
  /// - Returns: The value.
  /// - Throws: As `next`.
  public func nextWithParam(_ param: Any?) throws -> T {
    resume()
    do {
      return try machine.next(param)
    } catch {
      // The body's own error has found somebody who looks at it.
      if !(error is COError) { _ = lastError }
      throw error
    }
  }

  /// Waits for the next value: `next` under the articles' name.
  ///
  /// - Returns: The value.
  /// - Throws: As `next`.
  public func take() throws -> T {
    try next()
  }

  /// Waits for the next values.
  ///
  /// - Parameter count: How many.
  /// - Returns: So many values, or those that were left when the body ended.
  /// - Throws: As `next`, if there was no value at all; the error of a body that ends later comes at the next
  ///   call. A cancellation is thrown at once; the values that had come are gone then.
  public func take(_ count: Int) throws -> [T] {
    demand(count >= 0, "take(\(count)): the count must be 0 or more.")
    var values: [T] = []
    while values.count < count {
      do {
        values.append(try next())
      } catch {
        if values.isEmpty || co_isCancelled { throw error }
        break
      }
    }
    return values
  }
}

extension Generator: Sequence {
  /// Gives the values to a loop, which ends with the body.
  ///
  /// The loop ends, too, when the generator or the coroutine that loops is cancelled; `lastError` says why.
  /// Leaving the loop leaves the generator as it is. Outside a coroutine, a loop stops the program with a
  /// message.
  public struct Iterator: IteratorProtocol {
    let generator: Generator

    /// The next value; nil at the end.
    ///
    /// - Returns: The value.
    public func next() -> T? {
      do {
        return try generator.next()
      } catch COError.invalidCoroutine {
        fatalError(
          "A loop over a Generator waits for its values, but no coroutine runs here. Put it into "
            + "co_launch { }."
        )
      } catch {
        return nil
      }
    }
  }

  /// The values, for a loop.
  ///
  /// - Returns: The iterator.
  public func makeIterator() -> Iterator {
    Iterator(generator: self)
  }
}

/// A generator.
///
/// - Parameters:
///   - type: The type of the values.
///   - queue: Where the body runs; nil for the current queue.
///   - stackSize: Bytes for its stack; see `Coroutine.init`.
///   - block: The body; it yields values with `yield { }`, and begins when a value is first asked for.
/// - Returns: The generator.
@discardableResult
public func co_sequence<T>(
  _ type: T.Type,
  queue: DispatchQueue? = nil,
  stackSize: UInt32? = nil,
  block: @escaping () throws -> Void
) -> Generator<T> {
  let generator = Generator<T>(block: block, on: queue, stackSize: stackSize)
  generator.resume()
  return generator
}

/// A generator whose body runs on a queue of its own.
///
/// - Parameters:
///   - name: The label of the queue.
///   - type: The type of the values.
///   - block: The body; it yields values with `yield { }`.
/// - Returns: The generator.
public func sequenceOnBackgroundQueue<T>(
  _ name: String,
  _ type: T.Type,
  block: @escaping () throws -> Void
) -> Generator<T> {
  co_sequence(type, queue: DispatchQueue(label: name), block: block)
}

// SPDX-License-Identifier: Apache-2.0

/// A misuse of a coroutine operation, or a lack of memory, reported where it happened.
///
/// The set of errors is open: compare with the static members, or read `description`, which says what
/// happened, to what, and what to do.
public struct CoroutineError: Error, Sendable, Hashable, CustomStringConvertible {
  private enum Kind: Hashable, Sendable {
    case outsideCoroutine
    case joinsItself
    case noMemoryForStack
    case schedulerShutDown
  }

  private let kind: Kind

  /// What happened, to what, and what to do.
  public let description: String

  /// Two errors are equal when they are of the same kind, whatever operation they name.
  public static func == (one: CoroutineError, other: CoroutineError) -> Bool {
    one.kind == other.kind
  }

  /// Feeds the kind to the hasher.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
  }

  /// A call that parks was made where there is no coroutine to park.
  public static let outsideCoroutine = outsideCoroutine("This call")

  /// A coroutine waits for its own end.
  public static let joinsItself = joinsItself("A coroutine")

  /// There was no memory, or no address space, for a coroutine's stack.
  public static let noMemoryForStack = noMemoryForStack(bytes: nil)

  /// The scheduler had shut down before the coroutine could be launched on it.
  public static let schedulerShutDown = schedulerShutDown("A coroutine")

  @usableFromInline
  package static func outsideCoroutine(_ operation: StaticString) -> CoroutineError {
    CoroutineError(
      kind: .outsideCoroutine,
      description:
        "\(operation) parks the coroutine that calls it, but no coroutine runs here. Call it inside "
        + "`launch { }` or `runBlocking { }`, or use the variant that does not wait (its name ends in "
        + "`IfReady`) or the `async` one."
    )
  }

  /// `who` is what joined itself.
  package static func joinsItself(_ who: String) -> CoroutineError {
    CoroutineError(
      kind: .joinsItself,
      description:
        "\(who) joined itself and would wait for ever. Join it from another coroutine."
    )
  }

  /// `who` is what was not run.
  static func schedulerShutDown(_ who: String) -> CoroutineError {
    CoroutineError(
      kind: .schedulerShutDown,
      description:
        "\(who) was not run, because its scheduler has shut down. Keep the scheduler, or the "
        + "`runBlocking` that it belongs to, alive until everything launched on it has finished."
    )
  }

  /// `who` is what the stack was for.
  package static func noMemoryForStack(
    bytes: Int?,
    _ who: String = "a coroutine"
  ) -> CoroutineError {
    CoroutineError(
      kind: .noMemoryForStack,
      description:
        "The system has no memory or address space left for a stack"
        + (bytes.map { " of \($0 >> 10) KiB" } ?? "") + " for \(who)"
        + ", so its body was not run. Launch fewer coroutines at a time (a bounded channel or a "
        + "semaphore does that), or give them smaller stacks with `launch(stackSize: .small)`."
    )
  }
}

/// Lets `catch CoroutineError.outsideCoroutine` be written.
extension CoroutineError {
  /// Whether an error is this one.
  ///
  /// - Parameters:
  ///   - pattern: The error to look for.
  ///   - error: Any error.
  /// - Returns: True if `error` is of this type and equal to `pattern`.
  public static func ~= (pattern: CoroutineError, error: any Error) -> Bool {
    (error as? CoroutineError) == pattern
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
public import Foundation

/// Why a call of this module failed; coswift's names.
public enum COError: String, LocalizedError {
  /// The promise was cancelled: `cancel()` was called on it, or its last awaiter was cancelled.
  case promiseCancelled = "The promise was cancelled."
  /// The waiting coroutine was cancelled.
  case coroutineCancelled = "The coroutine was cancelled."
  /// A call that waits was made where no coroutine runs.
  case invalidCoroutine =
    "This call waits, and only a coroutine can wait. Call it inside co_launch { }."
  /// The generator was cancelled.
  case generatorCancelled = "The generator was cancelled."
  /// The generator's body has ended: there are no more values.
  case generatorClosed = "The generator's body has ended; it has no more values."
  /// A yield where no generator runs, or with a value of another type than the generator's.
  case notGenerator =
    "A value was yielded where no generator of such values runs. Yield from the block of co_sequence, or of an RJIterator."
  /// A receive failed for an unknown reason; kept for old code, never thrown.
  case chanReceiveFailUnknown = "The channel failed to receive, for an unknown reason."

  /// What happened and what to do.
  public var errorDescription: String? { advice.map { "\(rawValue) \($0)" } ?? rawValue }

  /// What to do, where `rawValue`, which is coswift's, does not say it.
  private var advice: String? {
    switch self {
    case .promiseCancelled:
      "Who calls its cancel() decides that; handle it where that is nothing wrong."
    case .coroutineCancelled: "Clean up and return; cancelled code cannot wait again."
    case .generatorCancelled: "Return from its block; nobody takes more values."
    case .generatorClosed: "Ask no more, or make another one."
    case .chanReceiveFailUnknown: "Receive again, or close the channel."
    case .invalidCoroutine, .notGenerator: nil
    }
  }

  /// An error of the core, in this module's terms.
  static func translating(_ error: any Error) -> any Error {
    switch error {
    case is CancellationError: COError.coroutineCancelled
    case CoroutineError.outsideCoroutine: COError.invalidCoroutine
    case PromiseError.cancelled: COError.promiseCancelled
    default: error
    }
  }
}

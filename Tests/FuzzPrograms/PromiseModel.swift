// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Synchronization

/// A promise, and what it must come to: the first to settle it decides.
final class PromiseModel {
  enum State: Equatable {
    case pending
    case fulfilled(Int)
    case rejected(FuzzFailure)
    case cancelled
  }

  let promise = Promise<Int>()
  var state = State.pending
  /// Coroutines that wait for it and cancel it if they are cancelled.
  var interested = 0
  /// Observers that were registered.
  var observers = 0
  /// Values that observers were called with.
  let observed = Observations()

  /// True if what somebody was told is what it came to.
  func agrees(with outcome: Result<Int, any Error>) -> Bool {
    switch (state, outcome) {
    case (.fulfilled(let expected), .success(let value)): expected == value
    case (.rejected(let expected), .failure(let error)): error as? FuzzFailure == expected
    case (.cancelled, .failure(let error)): error as? PromiseError == .cancelled
    default: false
    }
  }
}

/// An error that programs reject with.
struct FuzzFailure: Error, Equatable {
  let number: Int
}

/// Values that observers have been called with.
final class Observations: Sendable {
  private let list = Mutex<[Int]>([])

  var values: [Int] { list.withLock { $0 } }

  func add(_ value: Int) { list.withLock { $0.append(value) } }
}

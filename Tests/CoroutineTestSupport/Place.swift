// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch

/// Where code that launches coroutines can stand.
package enum Place: String, CaseIterable, Sendable {
  case runBlocking
  case serialScheduler
  case queue

  /// Runs `body` as a coroutine there and waits for it.
  package func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) throws -> Result {
    switch self {
    case .runBlocking:
      try Coroutines.runBlocking(body)
    case .serialScheduler:
      try Coroutines.runBlocking { try launch(on: SerialScheduler(), body).value() }
    case .queue:
      try Coroutines.runBlocking { try launch(on: DispatchQueue(label: "test"), body).value() }
    }
  }
}

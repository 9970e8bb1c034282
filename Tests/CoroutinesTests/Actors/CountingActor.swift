// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines

/// What the actors of these tests understand.
enum Counting: Sendable {
  case add(Int)
  case total(Reply<Int>)
  case name(Reply<String>)
  /// Fails its handler, and is an ask.
  case fail(Int, Reply<Int>)
  /// Waits at a gate, then answers.
  case wait(Gate, Reply<Int>)
  /// Its reply is dropped.
  case forget(Reply<Int>)
  case nothing(Reply<Void>)
}

/// Counts what it is told.
@Sendable func count(_ mailbox: Mailbox<Counting>) throws {
  var total = 0
  for message in mailbox {
    switch message {
    case .add(let number): total += number
    case .total(let reply): reply(total)
    case .name(let reply): reply("counter")
    case .fail(let code, _): throw Failure(code)
    case .wait(let gate, let reply):
      try gate.wait()
      reply(total)
    case .forget: break
    case .nothing(let reply): reply()
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CRedis
import Coroutines
import ExampleSupport
import Synchronization

/// Many clients, each of which sets a value and reads it back, over a few connections.
struct Crowd {
  let clients: Int
  let connections: Int
  let address: Address

  /// Each client a coroutine of its own, all on the calling thread.
  func inCoroutines(_ threads: ThreadCount) throws -> [Reply] {
    let pool = Pool(size: connections, open: { try Connection(address) }, isUsable: \.isUsable)
    return try withCoroutineScope { scope in
      let answers = (0..<clients).map { number in
        scope.launch {
          try pool.withConnection { connection in
            if number.isMultiple(of: 16) { threads.note() }
            return try setAndGet(number, connection)
          }
        }
      }
      return try answers.map { try $0.value() }
    }
  }

  /// As many threads as connections; each takes the next client when it is done with one.
  func inThreads(_ threads: ThreadCount) -> [Reply] {
    let tickets = Tickets(clients)
    let answers = Mutex([Reply](repeating: .nothing, count: clients))
    runThreads(connections) { _ in
      do {
        let connection = try Connection(address)
        while let number = tickets.take() {
          if number.isMultiple(of: 16) { threads.note() }
          let answer = try setAndGet(number, connection)
          answers.withLock { $0[number] = answer }
        }
      } catch {
        stop("a thread's command: \(error)")
      }
    }
    return answers.withLock { $0 }
  }

  private func setAndGet(_ number: Int, _ connection: Connection) throws -> Reply {
    try connection.command("SET", "key:\(number)", "value \(number)")
    return try connection.command("GET", "key:\(number)")
  }
}

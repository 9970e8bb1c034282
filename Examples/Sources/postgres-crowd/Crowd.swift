// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Coroutines
import ExampleSupport
import Synchronization

/// Many queries at once: how many, over how many connections, and what each asks.
struct Crowd {
  let queries: Int
  let connections: Int
  let text: String

  /// Each query in a coroutine of its own, all on the calling thread: whose code is what `inThreads` has, but for
  /// who runs it.
  func inCoroutines(_ threads: ThreadCount) throws -> [String] {
    let pool = Pool(size: connections, open: Connection.init, isUsable: \.isUsable)
    return try withCoroutineScope { scope in
      let answers = (0..<queries).map { number in
        scope.launch {
          try pool.withConnection { connection in
            let rows = try connection.query(text, [String(number)])
            if number.isMultiple(of: 16) { threads.note() }
            return rows[0][1]
          }
        }
      }
      return try answers.map { try $0.value() }
    }
  }

  /// As many threads as connections; each takes the next query when it is done with one.
  func inThreads(_ threads: ThreadCount) -> [String] {
    let tickets = Tickets(queries)
    let answers = Mutex([String](repeating: "", count: queries))
    let text = text
    runThreads(connections) { _ in
      do {
        let connection = try Connection()
        while let number = tickets.take() {
          let answer = try connection.query(text, [String(number)])[0][1]
          answers.withLock { $0[number] = answer }
          if number.isMultiple(of: 16) { threads.note() }
        }
      } catch {
        stop("a thread's query: \(error)")
      }
    }
    return answers.withLock { $0 }
  }
}

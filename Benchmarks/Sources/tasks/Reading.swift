// SPDX-License-Identifier: Apache-2.0

import harness

let files = [
  Row(task: "read-256k", operations: 256, warmsUp: true) { Outcome(await read("256k", $0)) },
  Row(task: "read-20m", operations: 16, warmsUp: true) { Outcome(await read("20m", $0)) },
]

/// A task for each file, which blocks a thread of the pool.
private func read(_ kind: String, _ count: Int) async -> Int {
  await withTaskGroup(of: Int.self) { group in
    for number in 0..<count { group.addTask { Files.read(Files.path(kind, number)) } }
    return await group.reduce(0, +)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// The same work twice: by a crew of coroutines, and one thing after the other.
struct Passes {
  let walk: TreeWalk
  let crew: Crew
  let progress: Progress

  /// Counts and compares with many files at a time.
  ///
  /// - Parameter census: Takes what is found, and has it even if this throws.
  /// - Throws: `Interrupt`.
  func concurrently(into census: Box<Census>) throws {
    try progress.show(.counting) { try count(into: census) }
    try progress.show(.comparing) { try compare(into: census) }
    census.value.sort()
  }

  /// Walks the tree and counts its files.
  private func count(into census: Box<Census>) throws {
    let findings = walk.findings(.offloaded)
    try crew.work(
      through: findings.lazy.compactMap { census.value.note($0) },
      {
        let counter = FileCounter()
        return { files, deliver in
          var done = 0
          try counter.count(files.map(\.path), isRoot: walk.isFile, .offloaded) {
            progress.reading.bytes += $0
          } deliver: {
            progress.reading.finishFile(at: files[done].position)
            deliver(done, $0)
            done += 1
          }
        }
      },
      collect: { census.value.add($0) }
    )
    if let error = findings.error { throw error }
  }

  /// Compares the files that may be the same.
  private func compare(into census: Box<Census>) throws {
    let groups = census.value.beginComparing()
    let groupCount = groups.count
    try crew.work(
      through: groups,
      {
        let pair = FilePair()
        return { groups, deliver in
          try Duplicates.confirm(groups, with: pair, .offloaded) {
            progress.reading.bytes += $0
          } deliver: {
            progress.reading.finishGroup(of: groups[$0].count, among: groupCount)
            deliver($0, $1)
          }
        }
      },
      collect: { census.value.add($0) }
    )
  }

  /// Counts and compares with one file at a time, on one thread of its own.
  ///
  /// - Throws: `Interrupt`; the thread then goes on until the process ends.
  func sequentially() throws -> Census {
    try progress.show(.sequential) { try goOnceMore() }
  }

  private func goOnceMore() throws -> Census {
    let result = Channel<Census>(capacity: 1)
    // Only the last reading counts: the thread never waits for those who look at it.
    let readings = Channel<Reading>(capacity: .conflated)
    let walk = walk
    return try withCoroutineScope { scope in
      scope.launch(name: "sequential pass") {
        let census = try offload {
          var pass = SequentialPass(walk, readings)
          return try pass()
        }
        result.sendIfReady(census)
      }
      var census: Census?
      while true {
        try select {
          Receive(from: result) { census = $0 }
          Receive(from: crew.interrupts) { throw $0 }
          Receive(from: readings) { progress.reading = $0 }
        }
        if let census { return census }
      }
    }
  }
}

/// A value that several coroutines of one thread share.
final class Box<Value> {
  var value: Value

  init(_ value: Value) {
    self.value = value
  }
}

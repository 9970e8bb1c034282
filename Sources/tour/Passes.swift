// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// The same work twice: by a crew of coroutines, and one thing after the other.
struct Passes {
  let walk: TreeWalk
  let crew: Crew

  private var progress: Progress { crew.progress }

  /// Counts and compares with many files at a time.
  ///
  /// - Parameter census: Takes what is found, and has it even if this throws.
  /// - Throws: `Interrupt`.
  func concurrently(into census: Box<Census>) throws {
    let findings = walk.findings(.offloaded)
    progress.reading.begin(.counting)
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

    let groups = census.value.beginComparing()
    let groupCount = groups.count
    progress.reading.begin(.comparing)
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
    census.value.sort()
  }

  /// Counts and compares with one file at a time, on one thread of its own.
  ///
  /// - Throws: `Interrupt`; the thread then goes on until the process ends.
  func sequentially() throws -> Census {
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
          After(progress.timeToNextShow) {}
        }
        if let census { return census }
        progress.showIfDue()
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

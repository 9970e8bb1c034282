// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// One thing after the other, on the thread that runs it: what the crew's work is measured against.
struct SequentialPass {
  private let walk: TreeWalk
  private let readings: Channel<Reading>
  private var reading = Reading(phase: .sequential)
  private var nextReport = ContinuousClock.now

  init(_ walk: TreeWalk, _ readings: Channel<Reading>) {
    self.walk = walk
    self.readings = readings
  }

  /// Counts and compares.
  mutating func callAsFunction() throws -> Census {
    var census = Census()
    let counter = FileCounter()
    let findings = walk.findings(.direct)
    for finding in findings {
      guard let file = census.note(finding) else { continue }
      try counter.count([file.path], isRoot: walk.isFile, .direct) {
        note(bytes: $0)
      } deliver: {
        census.add($0)
      }
      reading.finishFile(at: file.position)
    }
    if let error = findings.error { throw error }

    let pair = FilePair()
    try Duplicates.confirm(census.beginComparing(), with: pair, .direct) {
      note(bytes: $0)
    } deliver: {
      census.add($1)
    }
    census.sort()
    return census
  }

  /// Tells the others, but not so often that it takes time.
  private mutating func note(bytes: Int) {
    reading.bytes += bytes
    let now = ContinuousClock.now
    guard now >= nextReport else { return }
    nextReport = now + .milliseconds(50)
    readings.sendIfReady(reading)
  }
}

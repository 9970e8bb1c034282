// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

@testable import tour

@Suite struct FileCounterTests {
  private func outcomes(_ paths: [BytePath], _ blocking: BlockingCalls) throws -> [FileOutcome] {
    var outcomes: [FileOutcome] = []
    try FileCounter().count(paths, blocking) { _ in
    } deliver: {
      outcomes.append($0)
    }
    return outcomes
  }

  @Test(arguments: [0, 1, 31, 32, FileReader.chunkSize - 1, FileReader.chunkSize, 3_000_000])
  func `a file of any length is counted, whichever way the calls are made`(size: Int) throws {
    let tree = try MadeTree()
    let path = try tree.file([0x66], [UInt8](repeating: 10, count: size))
    let direct = try outcomes([path, path], .direct)
    let offloaded = try runBlocking { try outcomes([path, path], .offloaded) }
    for outcome in direct + offloaded {
      guard case .counted(let facts) = outcome else {
        Issue.record("not counted: \(outcome)")
        continue
      }
      #expect(facts.counts == Counts(lines: size, words: 0, bytes: size))
    }
  }

  @Test func `what cannot be counted is reported and the rest is counted`() throws {
    let tree = try MadeTree()
    let first = try tree.file("a", "a")
    let gone = tree.at("gone")
    try tree.pipe("pipe")
    let last = try tree.file("z", "z z")
    let outcomes = try outcomes([first, gone, tree.at("pipe"), last], .direct)
    guard outcomes.count == 4, case .counted = outcomes[0],
      case .problem(let problem) = outcomes[1], case .special = outcomes[2],
      case .counted(let facts) = outcomes[3]
    else {
      Issue.record("\(outcomes)")
      return
    }
    #expect(problem.kind == .vanished)
    #expect(facts.counts.words == 2)
  }
}

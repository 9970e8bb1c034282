// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import tour

@Suite struct DuplicatesTests {
  private func facts(_ path: BytePath, bytes: Int, hash: UInt64 = 1) throws -> FileFacts {
    guard let identity = try FileReader().open(path) else { throw Problem(.unreadable, path, "") }
    return FileFacts(
      path: path,
      identity: identity,
      counts: Counts(bytes: bytes),
      hash: hash
    )
  }

  private func confirm(_ group: [FileFacts]) throws -> Comparison {
    var result = Comparison()
    try Duplicates.confirm([group], with: FilePair(), .direct) { _ in
    } deliver: {
      result = $1
    }
    return result
  }

  @Test func `candidates have the same length and hash, and are different files`() throws {
    let tree = try MadeTree()
    let a = try facts(tree.file("a", "xx"), bytes: 2)
    let b = try facts(tree.file("b", "xx"), bytes: 2)
    try tree.hardLink("c", to: "a")
    let c = try facts(tree.at("c"), bytes: 2)
    let d = try facts(tree.file("d", "yy"), bytes: 2, hash: 2)
    let e = try facts(tree.file("e", "xxx"), bytes: 3)
    let empty = try ["f", "g"].map { try facts(tree.file($0), bytes: 0) }
    #expect(Duplicates.candidates(among: [c, b, a, d, e] + empty) == [[a, b]])
    #expect(Duplicates.candidates(among: [c, a]).isEmpty)
  }

  @Test func `files with the same hash and different contents are no duplicates`() throws {
    let tree = try MadeTree()
    let group = try [("a", "xx"), ("b", "yy"), ("c", "xx"), ("d", "zz")].map {
      try facts(tree.file($0.0, $0.1), bytes: 2)
    }
    let comparison = try confirm(group)
    #expect(comparison.sets == [DuplicateSet(bytes: 2, paths: [tree.at("a"), tree.at("c")])])
  }

  @Test(arguments: [1, 10_000, FileReader.chunkSize, FileReader.chunkSize + 1, 2_000_000])
  func `a difference in the last byte is found`(size: Int) throws {
    let tree = try MadeTree()
    var content = [UInt8](repeating: 65, count: size)
    let a = try facts(tree.file([0x61], content), bytes: size)
    let b = try facts(tree.file([0x62], content), bytes: size)
    content[size - 1] = 66
    let c = try facts(tree.file([0x63], content), bytes: size)
    #expect(try confirm([a, b, c]).sets.map(\.paths) == [[a.path, b.path]])
  }

  @Test func `a file that vanishes before it is compared is reported`() throws {
    let tree = try MadeTree()
    let group = try ["a", "b", "c"].map { try facts(tree.file($0, "xx"), bytes: 2) }
    tree.remove("b")
    let comparison = try confirm(group)
    #expect(comparison.sets.map(\.paths) == [[tree.at("a"), tree.at("c")]])
    #expect(comparison.problems.map(\.kind) == [.vanished])
  }
}

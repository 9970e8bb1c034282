// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct FileManagerTests {
  private let files = FileManager.default

  @Test func `items are made, copied, moved, linked and removed, by path`() throws {
    for isInside in [false, true] {
      let folder = try TemporaryFolder()
      let work = {
        try files.co.createDirectory(atPath: folder.path("d/e"), withIntermediateDirectories: true)
        try #expect(
          files.co.createFile(
            atPath: folder.path("d/a"),
            contents: Data("x".utf8),
            attributes: [.posixPermissions: 0o600]
          )
        )
        try files.co.copyItem(atPath: folder.path("d/a"), toPath: folder.path("d/b"))
        try files.co.moveItem(atPath: folder.path("d/b"), toPath: folder.path("d/c"))
        try files.co.linkItem(atPath: folder.path("d/c"), toPath: folder.path("d/l"))
        try files.co.createSymbolicLink(atPath: folder.path("d/s"), withDestinationPath: "a")
        try files.co.removeItem(atPath: folder.path("d/e"))
      }
      if isInside { try runBlocking(work) } else { try work() }
      try #expect(
        files.contentsOfDirectory(atPath: folder.path("d")).sorted() == ["a", "c", "l", "s"]
      )
      #expect(files.contents(atPath: folder.path("d/l")) == Data("x".utf8))
    }
  }

  @Test func `items are made, copied, moved, linked and removed, by URL`() throws {
    let folder = try TemporaryFolder()
    try runBlocking {
      try files.co.createDirectory(at: folder.file("d"))
      let a = try folder.write("x", to: "d/a")
      try files.co.copyItem(at: a, to: folder.file("d/b"))
      try files.co.moveItem(at: folder.file("d/b"), to: folder.file("d/c"))
      try files.co.linkItem(at: folder.file("d/c"), to: folder.file("d/l"))
      try files.co.createSymbolicLink(at: folder.file("d/s"), withDestinationURL: a)
      try files.co.removeItem(at: folder.file("d/c"))
    }
    try #expect(files.contentsOfDirectory(atPath: folder.path("d")).sorted() == ["a", "l", "s"])
  }

  @Test func `an item is replaced as by the plain call`() throws {
    let folder = try TemporaryFolder()
    let outcomes = try ["plain", "co"].map { kind in
      let old = try folder.write("old", to: "\(kind) old")
      let new = try folder.write("new", to: "\(kind) new")
      let result = Result {
        if kind == "plain" { return try files.replaceItemAt(old, withItemAt: new) != nil }
        return try runBlocking { try files.co.replaceItemAt(old, withItemAt: new) != nil }
      }
      return
        "\((try? result.get()) as Any) \((try? String(contentsOf: old, encoding: .utf8)) as Any)"
    }
    #expect(outcomes[0] == outcomes[1])
  }

  @Test func `what is looked up is what the plain calls find`() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("x", to: "a")
    try files.createDirectory(at: folder.file("d"), withIntermediateDirectories: false)
    _ = try folder.write("x", to: "d/b")
    try files.createSymbolicLink(atPath: folder.path("s"), withDestinationPath: "a")
    let (root, a) = (folder.url.path(percentEncoded: false), folder.path("a"))
    let result = try inAndOut {
      [
        try files.co.contentsOfDirectory(atPath: root).sorted() == ["a", "d", "s"],
        try files.co.contentsOfDirectory(at: folder.url).count == 3,
        try files.co.subpathsOfDirectory(atPath: root).sorted() == ["a", "d", "d/b", "s"],
        try files.co.subpaths(atPath: root)?.count == 4,
        try files.co.attributesOfItem(atPath: a)[.size] as? Int == 1,
        try files.co.attributesOfFileSystem(forPath: root)[.systemSize] != nil,
        try files.co.destinationOfSymbolicLink(atPath: folder.path("s")) == "a",
        try files.co.fileExists(atPath: a),
        try !files.co.fileExists(atPath: folder.path("z")),
        try files.co.fileExistsAndIsDirectory(atPath: folder.path("d")) == (true, true),
        try files.co.fileExistsAndIsDirectory(atPath: a) == (true, false),
        try files.co.isReadableFile(atPath: a) == files.isReadableFile(atPath: a),
        try files.co.isWritableFile(atPath: a) == files.isWritableFile(atPath: a),
        try files.co.isExecutableFile(atPath: a) == files.isExecutableFile(atPath: a),
        try files.co.isDeletableFile(atPath: a) == files.isDeletableFile(atPath: a),
        try files.co.contentsEqual(atPath: a, andPath: folder.path("d/b")),
        try files.co.contents(atPath: a) == Data("x".utf8),
        try files.co.contents(atPath: folder.path("z")) == nil,
      ]
    }
    #expect(result == Array(repeating: true, count: 18))
  }

  @Test func `attributes are changed`() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("x", to: "a")
    try runBlocking {
      try files.co.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.path("a"))
      let mode = try files.co.attributesOfItem(atPath: folder.path("a"))[.posixPermissions]
      #expect((mode as? NSNumber)?.intValue == 0o640)
    }
  }

  @Test func `errors pass through`() throws {
    let folder = try TemporaryFolder()
    try runBlocking {
      #expect(throws: CocoaError.self) { try files.co.removeItem(atPath: folder.path("z")) }
      #expect(throws: CocoaError.self) {
        try files.co.contentsOfDirectory(atPath: folder.path("z"))
      }
      #expect(throws: CocoaError.self) {
        try files.co.copyItem(at: folder.file("z"), to: folder.file("y"))
      }
      #expect(throws: (any Error).self) { try files.co.createDirectory(at: folder.url) }
    }
  }

  @Test func `a tree is walked as it is asked for`() throws {
    let folder = try TemporaryFolder()
    for name in 0..<200 { _ = try folder.write("", to: "\(name)") }
    let count = try inAndOut {
      files.co.enumerator(at: folder.url).reduce(0) { count, _ in count + 1 }
    }
    #expect(count == 200)
    try runBlocking {
      let walk = files.co.enumerator(at: folder.url)
      for _ in walk { break }
      #expect(walk.next() == nil)
    }
  }

  @Test func `others run meanwhile, and cancelled code does nothing (rule 2)`() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("x", to: "a")
    try #expect(othersRun { _ = try files.co.contentsOfDirectory(at: folder.url) })
    try #expect(refusesWhenCancelled { try files.co.removeItem(at: folder.file("a")) })
    #expect(files.fileExists(atPath: folder.path("a")))
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import tour

/// The built program, run as a user runs it.
@Suite struct CommandTests {
  /// All that a file can have that is out of the ordinary.
  ///
  /// Every word has a printable character in it: GNU wc 9.1 does not count others.
  private func oddTree() throws -> MadeTree {
    let tree = try MadeTree()
    try tree.file("empty")
    try tree.file("no newline", "one two")
    try tree.file("crlf", "one\r\ntwo three\r\n")
    try tree.file(Array("nul".utf8), Array("a\0b c\0\nd".utf8))
    try tree.file(Array("latin1".utf8), [0x66, 0xFC, 0x72, 0x20, 0x6F, 0xFF, 0x0A])
    try tree.file([0xFF, 0xFE, 0x20, 0x6E], Array("x y\n".utf8))
    try tree.file(Array("new\nline \\ \u{1B}[31m".utf8), Array("one of the largest\n".utf8))
    try tree.file("big", String(repeating: "lorem ipsum dolor\n", count: 50_000))
    try tree.directory("deep")
    var path = "deep"
    for level in 0..<100 {
      path += "/level \(level)"
      try tree.directory(path)
      try tree.file(path + "/file", "level \(level)\n")
    }
    try tree.file("same 1", "twice")
    try tree.file("same 2", "twice")
    try tree.link("broken", to: "nowhere")
    try tree.link("deep/cycle", to: "..")
    try tree.pipe("pipe")
    try tree.directory(".hidden")
    try tree.file(".hidden/file", "not seen by default\n")
    return tree
  }

  /// What coreutils count.
  private func wc(_ tree: MadeTree) throws -> [Int] {
    let script = "find \"$0\" -type f -print0 | wc -l -w -c --files0-from=- | tail -n 1"
    let result = try Program.run("/bin/sh", ["-c", script, tree.path])
    return result.output.split(whereSeparator: \.isWhitespace).prefix(3).compactMap { Int($0) }
  }

  @Test(arguments: [1, 2, 64])
  func `the totals are those of wc, with any number of jobs`(jobs: Int) throws {
    let tree = try oddTree()
    let result = try Program.runTour("--json", "--all", "-j", "\(jobs)", tree.path)
    #expect(result.status == 0)
    #expect(result.errors == "")
    let json = try JSONOutput.read(result)
    #expect([json.lines, json.words, json.bytes] == (try wc(tree)))
    #expect(json.files == 111)
    #expect(json.directories == 103)
    #expect(json.jobs == jobs)
    #expect(json.passesAgree == true)
    #expect(json.root == tree.path)
    #expect(json.problems.map(\.kind) == ["brokenLink", "linkCycle"])
    #expect(json.problems.map(\.path) == ["broken", "deep/cycle"])
    #expect(json.leftOut == .init(hiddenDirectories: 0, fileSystems: 0, links: 0, special: 1))
    #expect(json.largest.count == 10)
    #expect(json.largest.first == .init(path: "big", bytes: 900_000))
    #expect(json.duplicates == [JSONOutput.Duplicates(bytes: 5, paths: ["same 1", "same 2"])])
  }

  @Test func `names that are not UTF-8 are escaped`() throws {
    let tree = try MadeTree()
    try tree.file([0xFF, 0x5C, 0x0A], Array("x".utf8))
    let json = try JSONOutput.read(try Program.runTour("--json", tree.path))
    #expect(json.largest.map(\.path) == [#"\xFF\\\x0A"#])
  }

  @Test func `piped output is plain text`() throws {
    let tree = try oddTree()
    let result = try Program.runTour(tree.path)
    #expect(result.status == 0)
    #expect(result.errors == "")
    let text = result.output
    #expect(
      text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }
    )
    for phrase in [
      "110 files", "Largest files", "2 files in 1 set", "Problems: 1 broken link, 1 link cycle",
      "1 hidden directory (--all", "1 pipe, socket or device", "Both passes agree.",
      #"new\x0Aline \\ \x1B[31m"#,
    ] {
      #expect(text.contains(phrase), "\(phrase) is missing in \(text)")
    }
  }

  @Test func `a file can be toured too`() throws {
    let tree = try MadeTree()
    try tree.file("f", "a b\n")
    try tree.link("l", to: "f")
    for name in ["/f", "/l"] {
      let json = try JSONOutput.read(try Program.runTour("--json", tree.path + name))
      let counts = [json.files, json.lines, json.words, json.bytes]
      #expect(counts == [1, 1, 2, 4])
    }
  }

  @Test func `without a path the package around is toured`() throws {
    let tree = try MadeTree()
    try tree.file("Package.swift", "x\n")
    try tree.directory("Sources")
    let json = try JSONOutput.read(
      try Program.runTour("--json", "--no-compare", in: tree.path + "/Sources")
    )
    #expect(json.root == tree.path)
    #expect(json.sequentialSeconds == nil && json.passesAgree == nil)
  }

  @Test func `what cannot be read is reported and the rest is counted`() throws {
    let tree = try MadeTree()
    try tree.file("open", "x\n")
    try tree.file("closed", "y\n")
    try tree.directory("shut")
    try tree.setMode("closed", 0)
    try tree.setMode("shut", 0)
    try tree.setMode("", 0o755)
    // Modes mean nothing to root, who therefore becomes somebody else.
    let arguments = ["--json", tree.path]
    let result =
      geteuid() == 0
      ? try Program.run(
        "/usr/bin/setpriv",
        ["--reuid=65534", "--regid=65534", "--clear-groups", Program.tour.path] + arguments
      )
      : try Program.run(Program.tour.path, arguments)
    let json = try JSONOutput.read(result)
    #expect(result.status == 0)
    #expect(json.files == 1)
    #expect(json.problems.map(\.path) == ["closed", "shut"])
    #expect(json.problems.allSatisfy { $0.kind == "unreadable" })
  }

  @Test(arguments: [["--what"], ["--jobs", "0"], ["--jobs"], ["a", "b"]])
  func `bad usage exits with 64 and says why`(arguments: [String]) throws {
    let result = try Program.run(Program.tour.path, arguments)
    #expect(result.status == 64)
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("tour: "))
  }

  @Test func `a path that is not there exits with 66`() throws {
    let result = try Program.runTour("/nowhere/at/all")
    #expect(result.status == 66)
    #expect(result.errors == "tour: /nowhere/at/all: No such file or directory\n")
    #expect(try Program.runTour("/dev/null").status == 66)
  }

  @Test func `help goes to standard output`() throws {
    let result = try Program.runTour("--help")
    #expect(result.status == 0)
    #expect(result.output == Options.help)
  }

  @Test func `a report that cannot be written exits with 74`() throws {
    let tree = try MadeTree()
    let result = try Program.run(
      "/bin/sh",
      ["-c", "exec \"$0\" \"$1\" > /dev/full", Program.tour.path, tree.path]
    )
    #expect(result.status == 74)
  }
}

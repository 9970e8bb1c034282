// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Foundation
import HTTPServer
import Testing

@testable import tour

/// The built program, run as a user runs it.
@Suite(.timeLimit(.minutes(30))) struct MirrorCommandTests {
  private func mirror(_ arguments: String..., to tree: MadeTree) throws -> Program.Result {
    try mirror(arguments, to: tree)
  }

  private func mirror(_ arguments: [String], to tree: MadeTree) throws -> Program.Result {
    try Program.run(Program.tour.path, ["mirror", "-o", tree.path + "/out"] + arguments)
  }

  @Test func `help goes to standard output, and each of the two knows of the other`() throws {
    let result = try Program.runTour("mirror", "--help")
    #expect(result.status == 0)
    #expect(result.output == MirrorOptions.help)
    #expect(try Program.runTour("--help").output.contains("tour mirror [OPTION]... [URL|PATH]"))
  }

  @Test(arguments: [["--what"], ["--jobs", "0"], ["--jobs"], ["a", "b"], ["http://"]])
  func `bad usage exits with 64 and says why`(arguments: [String]) throws {
    let tree = try MadeTree()
    let result = try Program.run(Program.tour.path, ["mirror", "-o", tree.path] + arguments)
    #expect(result.status == 64)
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("tour: "))
  }

  @Test func `drawn pictures are all there and right, whatever goes wrong on the way`() throws {
    // Only what stalls may be given up for lack of patience.
    var attempt: (tree: MadeTree, result: Program.Result, json: MirrorOutput)?
    let wasInTime = try inTime(within: [.seconds(2), .seconds(20), .seconds(120)]) { patience in
      let tree = try MadeTree()
      let result = try mirror(
        "--faults",
        "--pictures=14",
        "--width=32",
        "--patience=\(patience.components.seconds)",
        "--timeout=600",
        "--json",
        to: tree
      )
      let json = try MirrorOutput.read(result)
      attempt = (tree, result, json)
      return json.retries["timeout"] == 1
    }
    #expect(wasInTime)
    let (tree, result, json) = try #require(attempt)
    #expect(result.status == 0)
    #expect(json.complete && json.expected == 14 && json.files.count == 14 && json.missing.isEmpty)
    #expect(try tree.names(in: "out") == json.files.map(\.name).sorted())
    for number in 0..<14 {
      let (name, draw) = Motif.picture(number, side: 32)
      #expect(tree.content(of: "out/\(name)") == PNG.encode(draw()), "\(name)")
    }
    #expect(json.files.allSatisfy { $0.verifiedBy == "digest" })
    // Two with a 503 and one with two, two resets, two wrong bytes, a stall.
    #expect(
      json.retries == ["status": 4, "damaged": 2, "connection": 2, "timeout": 1, "unwritable": 0]
    )
    // Each costs its file an attempt.
    for (number, faults) in [1: 1, 2: 1, 3: 1, 4: 1, 6: 2, 9: 1, 10: 1, 12: 1] {
      let file = json.files.first { $0.name == Motif.picture(number, side: 32).name }
      #expect(file?.attempts == faults + 1, "picture \(number)")
    }
  }

  @Test func `a directory of files of any names and sizes is mirrored`() throws {
    let tree = try MadeTree()
    try tree.directory("in")
    let contents: [[UInt8]: [UInt8]] = [
      Array("empty".utf8): [],
      Array("a b%20#?.txt".utf8): Array("text".utf8),
      [0xFF, 0x0A]: [1, 2, 3],
      Array("big".utf8): (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13 >> 4) },
      Array("chunk".utf8): [UInt8](repeating: 9, count: FileReader.chunkSize),
    ]
    for (name, content) in contents { try tree.file(Array("in/".utf8) + name, content) }
    try tree.file("in/.hidden", "not served")
    let result = try mirror(tree.path + "/in", to: tree)
    #expect(result.status == 0)
    #expect(result.output.hasSuffix("All 5 files mirrored.\n"))
    #expect(result.output.contains("Verified: 5 files by length and SHA-256"))
    #expect(try tree.names(in: "out") == contents.keys.map { "\(BytePath($0))" }.sorted())
    for (name, content) in contents {
      let reader = FileReader()
      _ = try reader.open(tree.at("out").appending(name))
      var found: [UInt8] = []
      while case let chunk = try reader.nextChunk(), !chunk.isEmpty { found += chunk }
      #expect(found == content)
    }
  }

  @Test func `standard error has a line for each file where there is no terminal, or none`() throws
  {
    let tree = try MadeTree()
    try tree.directory("in")
    try tree.file("in/a", "x")
    // An attempt that is out of time has a line, too.
    let limits = ["--patience=300", "--timeout=600"]
    #expect(try mirror(limits + [tree.path + "/in"], to: tree).errors == "a: 1 bytes\n")
    #expect(try mirror(limits + ["-q", tree.path + "/in"], to: tree).errors == "")
  }

  @Test func `what cannot be had is reported, the rest is mirrored, and the exit status is 1`()
    throws
  {
    let tree = try MadeTree()
    let path = tree.path
    let result = try MirrorSource.with(["good", "gone", "down", "wrong", "short", "shy"]) {
      name,
      request in
      switch name {
      case "gone": throw HTTPRefusal(404, "gone")
      case "down": throw HTTPRefusal(503, "always")
      case "wrong":
        let digest = Data(repeating: 1, count: 32).base64EncodedString()
        return HTTPResponse(headers: ["Repr-Digest": "sha-256=:\(digest):"], body: .bytes([1]))
      case "short":
        return HTTPResponse(
          body: .stream(length: 100) {
            try $0.write([1])
            throw HTTPRefusal(500, "enough")
          }
        )
      case "shy" where request < 3: return HTTPResponse(status: 429, headers: ["Retry-After": "0"])
      default: return HTTPResponse(body: .bytes(Array(name.utf8)))
      }
    } _: { address in
      try Program.run(
        Program.tour.path,
        [
          "mirror", "-o", path + "/out", "--retries", "2", "--patience=300", "--timeout=600",
          "--json", address,
        ]
      )
    }
    #expect(result.status == 1)
    let json = try MirrorOutput.read(result)
    #expect(!json.complete && json.expected == 6)
    #expect(json.files.map(\.name) == ["good", "shy"])
    #expect(json.files.map(\.attempts) == [1, 3])
    #expect(json.files.map(\.verifiedBy) == ["length", "length"])
    #expect(json.missing.map(\.name) == ["down", "gone", "short", "wrong"])
    #expect(json.missing.map(\.kind) == ["status", "status", "connection", "damaged"])
    #expect(
      json.retries == ["status": 4, "damaged": 2, "connection": 2, "timeout": 0, "unwritable": 0]
    )
    #expect(try tree.names(in: "out") == ["good", "shy"])
  }

  @Test func `an attempt that takes too long in all is given up, though bytes come all the while`()
    throws
  {
    let tree = try MadeTree()
    let path = tree.path
    let result = try MirrorSource.with(["slow"]) { _, _ in
      HTTPResponse(
        body: .stream {
          while true {
            try $0.write([1])
            try Coroutine.sleep(for: .milliseconds(5))
          }
        }
      )
    } _: { address -> Program.Result in
      func run(timeout: String) throws -> Program.Result {
        try Program.run(
          Program.tour.path,
          [
            "mirror", "-o", path + "/out", "--retries=0", "--timeout=\(timeout)",
            "--patience=3600", "--json", address,
          ]
        )
      }
      var result = try run(timeout: "0.3")
      // 69: the limit is the index page's as well, and a slow machine may need longer for that.
      for timeout in ["3", "30", "300"] where result.status == 69 {
        result = try run(timeout: timeout)
      }
      return result
    }
    #expect(result.status == 1)
    #expect(try MirrorOutput.read(result).missing.map(\.kind) == ["timeout"])
    #expect(try tree.names(in: "out").isEmpty)
  }

  @Test func `a page that cannot be had exits with 69`() throws {
    let tree = try MadeTree()
    let result = try mirror("--retries=1", "http://127.0.0.1:1/", to: tree)
    #expect(result.status == 69)
    #expect(result.output == "")
    #expect(result.errors.contains("tour: http://127.0.0.1:1/: "))
  }

  @Test func `a path that is not there exits with 66`() throws {
    let tree = try MadeTree()
    let result = try mirror(tree.path + "/nowhere", to: tree)
    #expect(result.status == 66)
    #expect(result.errors == "tour: \(tree.path)/nowhere: No such file or directory\n")
  }

  @Test func `a directory that cannot be made exits with 73`() throws {
    let tree = try MadeTree()
    try tree.file("file")
    try tree.file("out")
    #expect(try mirror(to: tree).status == 73)
    let below = try Program.runTour("mirror", "-o", tree.path + "/file/below", "-q")
    #expect(below.status == 73)
    #expect(below.errors.hasSuffix("Not a directory\n"))
  }

  @Test func `a report that cannot be written exits with 74`() throws {
    let tree = try MadeTree()
    try tree.directory("in")
    let result = try Program.run(
      "/bin/sh",
      [
        "-c", "exec \"$0\" mirror -q -o \"$1/out\" \"$1/in\" > /dev/full", Program.tour.path,
        tree.path,
      ]
    )
    #expect(result.status == 74)
  }

  @Test func `directories on the way are made, and files of the same name are replaced`() throws {
    let tree = try MadeTree()
    try tree.directory("in")
    try tree.file("in/a", "new")
    for content in ["old", "older"] {
      _ = try? tree.file("x/y/z/a", content)
      let result = try Program.runTour(
        "mirror",
        "-q",
        "-o",
        tree.path + "/x/y/z",
        tree.path + "/in"
      )
      #expect(result.status == 0)
      #expect(tree.content(of: "x/y/z/a") == Array("new".utf8))
    }
  }
}

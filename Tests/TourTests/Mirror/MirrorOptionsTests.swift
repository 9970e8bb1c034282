// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import tour

@Suite struct MirrorOptionsTests {
  private func options(_ arguments: String...) throws -> MirrorOptions {
    try MirrorOptions(arguments.map { Array($0.utf8) })
  }

  @Test func `without arguments pictures are drawn, and the directory is called mirror`() throws {
    let options = try options()
    #expect(options.source == .drawn)
    #expect(options.output == BytePath("mirror"))
    #expect(options.jobs == 6 && options.retries == 5 && options.pictures == 24)
    #expect(!options.hasFaults && !options.isJSON && !options.isQuiet && !options.wantsHelp)
  }

  @Test func `every option does what it says`() throws {
    let options = try options(
      "--faults",
      "--json",
      "-q",
      "-o",
      "there",
      "--jobs=3",
      "--retries",
      "0",
      "--timeout=1.5",
      "--patience",
      "0.25",
      "--pictures",
      "7",
      "--width=64",
      "dir"
    )
    #expect(options.hasFaults && options.isJSON && options.isQuiet)
    #expect(options.output == BytePath("there") && options.jobs == 3 && options.retries == 0)
    #expect(options.timeout == .seconds(1.5) && options.patience == .milliseconds(250))
    #expect(options.pictures == 7 && options.width == 64)
    #expect(options.source == .directory(BytePath("dir")))
    #expect(try self.options("--help").wantsHelp)
    #expect(try self.options("--output=a=b").output == BytePath("a=b"))
  }

  @Test func `what begins with http is an address, unless it begins with a dot`() throws {
    #expect(try options("https://a/b/").source == .address("https://a/b/"))
    #expect(try options("HTTP://a").source == .address("HTTP://a"))
    #expect(try options("./http://a").source == .directory(BytePath("./http://a")))
    #expect(try options("--", "--json").source == .directory(BytePath("--json")))
    #expect(try MirrorOptions([[0xFF]]).source == .directory(BytePath([0xFF])))
  }

  @Test(arguments: [
    ["--what"], ["-x"], ["--jobs"], ["--jobs", "0"], ["--jobs=65"], ["--jobs="], ["a", "b"], [""],
    ["--timeout", "0"], ["--timeout", "nan"], ["--patience", "1e9"], ["--retries", "-1"],
    ["--width", "15"], ["--pictures", "many"], ["-o"], ["--faults=1"], ["-j=3"],
  ])
  func `what makes no sense is refused`(arguments: [String]) {
    #expect(throws: Options.UsageError.self) {
      try MirrorOptions(arguments.map { Array($0.utf8) })
    }
  }
}

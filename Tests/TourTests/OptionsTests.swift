// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import tour

@Suite struct OptionsTests {
  private func options(_ arguments: String...) throws -> Options {
    try Options(arguments.map { Array($0.utf8) })
  }

  @Test func `without arguments there are eight jobs, a comparison and no path`() throws {
    let options = try options()
    #expect(options.jobs == 8)
    #expect(options.compares)
    #expect(options.path == nil)
    #expect(!options.includesHidden && !options.isJSON && !options.isQuiet)
  }

  @Test func `every option does what it says`() throws {
    let options = try options(
      "-a",
      "--mounts",
      "--json",
      "--no-compare",
      "-q",
      "--jobs=3",
      "there"
    )
    #expect(options.includesHidden && options.includesMounts && options.isJSON && options.isQuiet)
    #expect(!options.compares)
    #expect(options.jobs == 3)
    #expect(options.path == BytePath("there"))
    #expect(try self.options("-h").wantsHelp)
    #expect(try self.options("-j", "256").jobs == 256)
  }

  @Test func `after two dashes everything is a path`() throws {
    #expect(try options("--", "--json").path == BytePath("--json"))
  }

  @Test func `a path need not be UTF-8`() throws {
    #expect(try Options([[0xFF, 0xFE]]).path == BytePath([0xFF, 0xFE]))
  }

  @Test(arguments: [
    ["--what"], ["-x"], ["--jobs"], ["--jobs", "0"], ["--jobs", "257"], ["--jobs=many"],
    ["a", "b"],
    [""], ["-jx"],
  ])
  func `what makes no sense is refused`(arguments: [String]) {
    #expect(throws: Options.UsageError.self) {
      try Options(arguments.map { Array($0.utf8) })
    }
  }
}

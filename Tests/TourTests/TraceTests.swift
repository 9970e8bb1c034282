// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import tour

/// `--trace`.
@Suite struct TraceTests {
  @Test func `both tours take a file for their trace`() throws {
    let file = BytePath("a.html")
    #expect(try Options([Array("--trace".utf8), Array("a.html".utf8)]).trace == file)
    #expect(try Options([Array("--trace=a.html".utf8)]).trace == file)
    #expect(try MirrorOptions([Array("--trace=a.html".utf8)]).trace == file)
    for arguments in [["--trace"], ["--trace="], ["--trace", ""]] {
      #expect(throws: Options.UsageError.self) { try Options(arguments.map { Array($0.utf8) }) }
    }
  }

  @Test func `a name that ends in .json gets Chrome's format, any other a page`() throws {
    let tree = try MadeTree()
    try tree.file("one", "two three\n")
    let directory = try MadeTree()
    let json = directory.path + "/trace.json"
    let page = directory.path + "/trace"
    for file in [json, page] {
      let result = try Program.runTour("-q", "--trace", file, tree.path)
      #expect(result.status == 0 && result.errors == "")
      #expect(result.output.contains("Both passes agree"))
    }
    struct Trace: Decodable {
      struct Event: Decodable { let name: String }
      let traceEvents: [Event]
    }
    let trace = try JSONDecoder().decode(
      Trace.self,
      from: Data(contentsOf: URL(fileURLWithPath: json))
    )
    #expect(trace.traceEvents.contains { $0.name == "running" })
    let text = try String(contentsOfFile: page, encoding: .utf8)
    #expect(text.hasPrefix("<!doctype html>") && text.hasSuffix("</html>\n"))
    #expect(text.contains("worker 1 #"))
  }

  @Test func `a trace that cannot be written ends the tour before it begins`() throws {
    let tree = try MadeTree()
    let result = try Program.runTour("--trace", tree.path + "/not there/trace.html", tree.path)
    #expect(result.status == 73)
    #expect(result.output == "")
    #expect(result.errors.contains("not there/trace.html: No such file or directory"))
  }
}

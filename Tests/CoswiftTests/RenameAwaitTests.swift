// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The script `rename-await`, on a file.
@Suite(.timeLimit(.minutes(10)))
struct RenameAwaitTests {
  private let old = """
    // await(promise: in a comment)
    /* and await { here
       await(channel: c) */
    func old() throws {
      let a = try await(promise: fetch())
      let b = try await (closure: { fetch() })
      let c = try await{ fetch() }
      let d = try await { chan }
      let e = try await(
        channel: chan)
      print("await(promise: x) \\" await { ", try p.await(), try `await`(promise: p))
    }
    func new() async { await work(); let x = await (promise).value; await run(promise: x) }
    """

  /// Runs the script on a file with `text`; returns the file's new text and the exit status.
  private func rename(_ text: String, _ options: String...) throws -> (text: String, status: Int32)
  {
    let file = FileManager.default.temporaryDirectory
      .appending(path: "rename-await-\(UUID().uuidString).swift")
    try Data(text.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let process = Process()
    process.executableURL = root.appending(path: "scripts/rename-await")
    process.arguments = options + [file.path]
    process.standardOutput = Pipe()
    try process.run()
    process.waitUntilExit()
    let data = try Data(contentsOf: file)
    return (String(decoding: data, as: UTF8.self), process.terminationStatus)
  }

  @Test func `calls are renamed, and all else stays`() throws {
    let result = try rename(old)
    #expect(result.status == 0)
    let lines = result.text.split(separator: "\n")
    let oldLines = old.split(separator: "\n")
    #expect(lines.count == oldLines.count)
    let changed = zip(oldLines, lines).filter { $0 != $1 }.map { String($1) }
    #expect(
      changed == [
        "  let a = try co_await(promise: fetch())",
        "  let b = try co_await (closure: { fetch() })",
        "  let c = try co_await{ fetch() }",
        "  let d = try co_await { chan }",
        "  let e = try co_await(",
      ]
    )
    let again = try rename(result.text)
    #expect(again.text == result.text)
  }

  @Test func `backticks are written instead, if asked for`() throws {
    let result = try rename(old, "--backticks")
    #expect(result.text.contains("let a = try `await`(promise: fetch())"))
    #expect(!result.text.contains("co_await"))
  }

  @Test func `a check changes nothing and tells by its status`() throws {
    let result = try rename(old, "--check")
    #expect(result.status == 1 && result.text == old)
    let clean = try rename("let x = try co_await(promise: p)\n", "--check")
    #expect(clean.status == 0)
  }
}

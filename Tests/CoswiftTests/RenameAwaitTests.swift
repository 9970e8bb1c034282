// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The script `rename-await`, on a file.
@Suite(.timeLimit(.minutes(30)))
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
    let status = try run(options + [file.path])
    let data = try Data(contentsOf: file)
    return (String(decoding: data, as: UTF8.self), status)
  }

  /// Runs the script; returns the exit status.
  private func run(_ arguments: [String]) throws -> Int32 {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let process = Process()
    process.executableURL = root.appending(path: "scripts/rename-await")
    process.arguments = arguments
    process.standardOutput = Pipe()
    process.standardError = Pipe()
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
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

  @Test func `a folder stands for the Swift files in it, and one without any is an error`() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "rename-await-\(UUID().uuidString)")
    let inner = folder.appending(path: "a folder")
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(try run([folder.path]) == 2)
    let file = inner.appending(path: "One file.swift")
    let text = folder.appending(path: "notes.txt")
    for url in [file, text] { try Data("try await(promise: p)".utf8).write(to: url) }
    #expect(try run(["--check", folder.path]) == 1)
    #expect(try run([folder.path]) == 0)
    #expect(try String(contentsOf: file, encoding: .utf8) == "try co_await(promise: p)")
    #expect(try String(contentsOf: text, encoding: .utf8) == "try await(promise: p)")
  }
}

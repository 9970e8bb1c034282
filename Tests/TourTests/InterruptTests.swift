// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import tour

/// Ctrl-C, while a file is being read that would take hours: eight terabytes of nothing.
@Suite(.timeLimit(.minutes(30))) struct InterruptTests {
  private func slowTree() throws -> MadeTree {
    let tree = try MadeTree()
    try tree.file("a", "one two\n")
    try tree.file("b", "one two\n")
    try tree.endlessFile("z")
    return tree
  }

  /// Starts a tour, waits until it says how far it is, and interrupts it.
  private func interrupted(
    _ arguments: [String],
    errors: FileHandle,
    isUnderWay: () -> String
  ) throws -> (status: Int32, output: String, errors: String) {
    let process = Process()
    let output = Pipe()
    process.executableURL = Program.tour
    process.arguments = arguments
    process.environment = Program.environment(["TERM": "xterm", "LC_ALL": "C.UTF-8"])
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let takesInterrupts = waitUntilInterruptible(process)
    #expect(takesInterrupts)
    let shown = isUnderWay()
    process.interrupt()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    return (process.terminationStatus, text, shown)
  }

  /// Waits until a process has a handler for SIGINT: until then it would just end, or miss the signal.
  ///
  /// - Returns: False if it does not get one within minutes.
  private func waitUntilInterruptible(_ process: Process) -> Bool {
    let status = "/proc/\(process.processIdentifier)/status"
    let end = Date(timeIntervalSinceNow: 600)
    while process.isRunning, Date() < end {
      let text = (try? String(contentsOfFile: status, encoding: .utf8)) ?? ""
      let line = text.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
      let digits = line?.split(whereSeparator: \.isWhitespace).last ?? ""
      if let signals = UInt64(digits, radix: 16), signals >> UInt64(SIGINT - 1) & 1 != 0 {
        return true
      }
      Thread.sleep(forTimeInterval: 0.01)
    }
    return false
  }

  /// A terminal to show progress on, and what reads what is shown until both small files are counted.
  private func makeTerminal() throws -> (slave: FileHandle, master: FileHandle, read: () -> String)
  {
    var (master, slave): (Int32, Int32) = (-1, -1)
    try #require(openpty(&master, &slave, nil, nil, nil) == 0)
    let terminal = FileHandle(fileDescriptor: master, closeOnDealloc: true)
    return (
      FileHandle(fileDescriptor: slave, closeOnDealloc: true), terminal,
      {
        var text = ""
        while !text.contains(" 2 files") {
          text += String(decoding: terminal.availableData, as: UTF8.self)
        }
        return text
      }
    )
  }

  @Test func `Ctrl-C prints what was counted so far and exits with 130`() throws {
    let tree = try slowTree()
    let terminal = try makeTerminal()
    let result = try interrupted(
      ["-j", "2", tree.path],
      errors: terminal.slave,
      isUnderWay: terminal.read
    )
    #expect(result.status == 130)
    #expect(result.output.hasPrefix("Interrupted."))
    #expect(result.output.contains("2 files\n"))
    #expect(result.output.contains("Duplicates: not looked for yet"))
  }

  @Test func `a terminal gets a bar, and Ctrl-C takes it away`() throws {
    let tree = try slowTree()
    let terminal = try makeTerminal()
    let result = try interrupted(
      ["--json", tree.path],
      errors: terminal.slave,
      isUnderWay: terminal.read
    )
    #expect(result.status == 130)
    #expect(result.errors.hasPrefix("\rCounting ▕"))
    let rest = String(decoding: terminal.master.availableData, as: UTF8.self)
    #expect(rest.hasSuffix("\r\u{1B}[K"))
    let json = try JSONDecoder().decode(JSONOutput.self, from: Data(result.output.utf8))
    #expect(json.interrupted)
    #expect(json.files == 2)
    #expect(json.duplicates == nil)
  }

  @Test func `where there is no terminal nothing is shown`() throws {
    let tree = try slowTree()
    let errors = Pipe()
    let result = try interrupted(["-j", "2", tree.path], errors: errors.fileHandleForWriting) {
      // Longer than a bar would wait: that it is not there can be seen in no other way.
      Thread.sleep(forTimeInterval: 0.5)
      return ""
    }
    try errors.fileHandleForWriting.close()
    #expect(result.status == 130)
    #expect(errors.fileHandleForReading.readDataToEndOfFile().isEmpty)
  }
}

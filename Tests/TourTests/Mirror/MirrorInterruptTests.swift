// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Foundation
import HTTPServer
import Testing

@testable import tour

/// Ctrl-C, while one file is complete and another one never will be.
@Suite(.timeLimit(.minutes(30))) struct MirrorInterruptTests {
  @Test(arguments: [["-j", "1"], ["-j", "8"]])
  func `Ctrl-C leaves the files that are complete, and nothing else`(_ jobs: [String]) throws {
    let tree = try MadeTree()
    let path = tree.path
    let (status, output) = try MirrorSource.with(["whole", "half", "waiting"]) { name, _ in
      if name == "whole" { return HTTPResponse(body: .bytes([UInt8](repeating: 1, count: 1000))) }
      if name == "waiting" { try Coroutine.sleep(for: .seconds(3600)) }
      return HTTPResponse(
        body: .stream(length: 1_000_000) {
          try $0.write([UInt8](repeating: 2, count: 500_000))
          try Coroutine.sleep(for: .seconds(3600))
        }
      )
    } _: { address in
      try Self.interruptedRun(
        ["mirror", "-o", path + "/out", "--patience", "3600", address] + jobs,
        // All that has come has been written.
        when: "1 files  501.0 kB"
      )
    }
    #expect(status == 130)
    #expect(output.hasPrefix("Interrupted."))
    #expect(output.hasSuffix("INCOMPLETE: 1 of 3 files mirrored.\n"))
    #expect(try tree.names(in: "out") == ["whole"])
  }

  /// Starts the program on a terminal, and presses Ctrl-C when that shows something.
  private static func interruptedRun(
    _ arguments: [String],
    when sign: String
  ) throws -> (status: Int32, output: String) {
    var (master, slave): (Int32, Int32) = (-1, -1)
    try #require(openpty(&master, &slave, nil, nil, nil) == 0)
    let terminal = FileHandle(fileDescriptor: master, closeOnDealloc: true)
    let process = Process()
    let output = Pipe()
    process.executableURL = Program.tour
    process.arguments = arguments
    process.environment = Program.environment(["TERM": "xterm", "LC_ALL": "C"])
    process.standardOutput = output
    process.standardError = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    var shown = ""
    while !shown.contains(sign) {
      shown += String(decoding: terminal.availableData, as: UTF8.self)
    }
    process.interrupt()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}

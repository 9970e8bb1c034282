// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A run of `diagnostics-probe`.
struct Probe {
  let status: Int32
  /// It was ended by a signal, whose number the status is.
  let isKilled: Bool
  let output: String
  let errors: String

  /// Runs one of its programs.
  ///
  /// - Parameters:
  ///   - program: Which.
  ///   - environment: What to add to the environment.
  ///   - meanwhile: Called with the process, and what it writes to standard error, while it runs.
  /// - Returns: What came of it.
  /// - Throws: What `meanwhile` throws; what Foundation throws.
  static func run(
    _ program: String,
    environment: [String: String] = [:],
    meanwhile: (Process, FileHandle) throws -> Void = { _, _ in }
  ) throws -> Probe {
    let products = try #require(Bundle.main.executableURL).deletingLastPathComponent()
    let process = Process()
    let errors = Pipe()
    // A file, because a pipe that nobody reads from meanwhile would be full at some time.
    let path = "/tmp/coroutines-probe-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    defer { unlink(path) }
    let output = try #require(FileHandle(forWritingAtPath: path))
    process.executableURL = products.appending(path: "diagnostics-probe")
    process.arguments = [program]
    process.standardOutput = output
    process.standardError = errors
    // Crash reports would be long in coming, and are not what is tested.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["SWIFT_BACKTRACE": "enable=no"]) { _, new in new }
      .merging(environment) { _, new in new }
    try process.run()
    try meanwhile(process, errors.fileHandleForReading)
    let said = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try output.close()
    let printed = try Data(contentsOf: URL(filePath: path))
    return Probe(
      status: process.terminationStatus,
      isKilled: process.terminationReason == .uncaughtSignal,
      output: String(decoding: printed, as: UTF8.self),
      errors: String(decoding: said, as: UTF8.self)
    )
  }
}

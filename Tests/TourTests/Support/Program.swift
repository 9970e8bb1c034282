// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Programs run to their end.
struct Program {
  struct Result {
    let status: Int32
    let output: String
    let errors: String
  }

  /// The built `tour`, which lies beside the tests.
  static let tour: URL = {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("tour")
  }()

  static func runTour(_ arguments: String..., in directory: String? = nil) throws -> Result {
    try run(tour.path, arguments, in: directory)
  }

  /// A small environment, the same everywhere, and what the sanitizer is told if the tests run under one.
  static func environment(_ variables: [String: String]) -> [String: String] {
    ProcessInfo.processInfo.environment.filter { $0.key.hasSuffix("SAN_OPTIONS") }
      .merging(variables) { _, new in new }
  }

  static func run(
    _ program: String,
    _ arguments: [String],
    in directory: String? = nil
  ) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    process.environment = environment(["LC_ALL": "C", "PATH": "/usr/bin:/bin"])
    // Files, so that neither output has to be read while the other is written.
    let (output, errors) = (try Capture(), try Capture())
    process.standardOutput = output.handle
    process.standardError = errors.handle
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return Result(status: process.terminationStatus, output: output.text, errors: errors.text)
  }

  private final class Capture {
    let path = "/tmp/tour-tests-\(UUID().uuidString)"
    let handle: FileHandle

    init() throws {
      _ = FileManager.default.createFile(atPath: path, contents: nil)
      handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    deinit {
      try? FileManager.default.removeItem(atPath: path)
    }

    var text: String {
      String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
  }
}

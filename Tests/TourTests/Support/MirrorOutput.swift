// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Foundation
import HTTPServer

@testable import tour

/// What `tour mirror --json` prints, read by somebody else's parser.
struct MirrorOutput: Decodable {
  struct File: Decodable {
    let name: String
    let bytes: Int
    let sha256: String
    let verifiedBy: String
    let attempts: Int
  }

  struct Missing: Decodable {
    let name: String
    let kind: String
    let reason: String
  }

  let source, output: String
  let interrupted, complete: Bool
  let expected, bytes, jobs: Int
  let files: [File]
  let missing: [Missing]
  let retries: [String: Int]
  let seconds: Double

  static func read(_ result: Program.Result) throws -> MirrorOutput {
    try JSONDecoder().decode(MirrorOutput.self, from: Data(result.output.utf8))
  }
}

/// A server in this process, for a tour in another one.
enum MirrorSource {
  /// Serves a page with links to names, and for each name what `answer` says, while `body` blocks a thread.
  static func with<Result: Sendable>(
    _ names: [String],
    answer: @escaping @Sendable (_ name: String, _ request: Int) throws -> HTTPResponse,
    _ body: @escaping @Sendable (_ address: String) throws -> Result
  ) throws -> Result {
    try runBlocking {
      var requests: [String: Int] = [:]
      let server = try HTTPServer { request in
        let name = String(request.head.path.dropFirst())
        if name.isEmpty {
          return .text(names.map { "<a href=\"\($0)\">" }.joined(separator: "\n"))
        }
        requests[name, default: 0] += 1
        return try answer(name, requests[name] ?? 0)
      }
      launch { try server.run() }
      let address = "http://\(server.address)/"
      let result = try offload { try body(address) }
      try server.stop(within: .milliseconds(10))
      return result
    }
  }
}

extension MadeTree {
  /// All names in a directory of it, hidden ones as well.
  func names(in name: String) throws -> [String] {
    try Directory(reading: at(name), followsLink: false).entries
      .map { "\(BytePath($0.name))" }.sorted()
  }

  /// The bytes of a file.
  func content(of name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: at(name).description).map { Array($0) }
  }
}

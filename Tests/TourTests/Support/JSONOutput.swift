// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What `--json` prints, read by somebody else's parser.
struct JSONOutput: Decodable {
  struct File: Decodable, Equatable {
    let path: String
    let bytes: Int
  }

  struct Duplicates: Decodable, Equatable {
    let bytes: Int
    let paths: [String]
  }

  struct Problem: Decodable, Equatable {
    let path: String
    let kind: String
    let reason: String
  }

  struct LeftOut: Decodable, Equatable {
    let hiddenDirectories, fileSystems, links, special: Int
  }

  let root: String
  let interrupted: Bool
  let files, lines, words, bytes, directories, jobs: Int
  let leftOut: LeftOut
  let largest: [File]
  let duplicates: [Duplicates]?
  let problems: [Problem]
  let seconds: Double
  let sequentialSeconds: Double?
  let passesAgree: Bool?

  static func read(_ result: Program.Result) throws -> JSONOutput {
    try JSONDecoder().decode(JSONOutput.self, from: Data(result.output.utf8))
  }
}

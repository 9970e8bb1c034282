// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A directory with files, for the time that this object lives.
final class Folder: Sendable {
  let url: URL

  /// Makes it.
  ///
  /// - Parameter files: Names and contents.
  /// - Throws: What the file system says.
  init(_ files: [String: String] = [:]) throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("swift-coroutines-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    for (name, content) in files { try Data(content.utf8).write(to: self[name]) }
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// The place of a file in it.
  subscript(name: String) -> URL { url.appendingPathComponent(name) }

  /// The path of a file in it.
  func path(_ name: String) -> String { self[name].path }
}

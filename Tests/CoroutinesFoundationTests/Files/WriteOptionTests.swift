// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

/// What is asked of a write is done.
@Suite(.timeLimit(.minutes(30))) struct WriteOptionTests {
  @Test(arguments: [true, false])
  func `a write that must not replace anything does not, by URL and by path (3.5-c4)`(
    _ isInCoroutine: Bool
  ) throws {
    let folder = try TemporaryFolder()
    let url = try folder.write("old", to: "a")
    let (new, path) = (Data("new".utf8), folder.path("a"))
    let work = {
      for write in [
        { try new.co.write(to: url, options: .withoutOverwriting) },
        { try new.co.write(toFile: path, options: .withoutOverwriting) },
      ] {
        let error = #expect(throws: CocoaError.self) { try write() }
        #expect(error?.code == .fileWriteFileExists)
      }
      try new.co.write(to: folder.file("b"), options: .withoutOverwriting)
    }
    if isInCoroutine { try runBlocking(work) } else { try work() }
    try #expect(String(contentsOf: url, encoding: .utf8) == "old")
    try #expect(Data(contentsOf: folder.file("b")) == new)
  }

  /// The kinds of write that can be atomic.
  enum Kind: CaseIterable, Sendable {
    case bytesByURL, bytesByPath, textByURL, textByPath, arrayByURL, arrayByPath
    case dictionaryByURL, dictionaryByPath

    /// Writes something else than the text "old".
    func write(to url: URL, atomically: Bool) throws {
      let path = url.path(percentEncoded: false)
      let options: Data.WritingOptions = atomically ? .atomic : []
      switch self {
      case .bytesByURL: try Data("new".utf8).co.write(to: url, options: options)
      case .bytesByPath: try Data("new".utf8).co.write(toFile: path, options: options)
      case .textByURL: try "new".co.write(to: url, atomically: atomically)
      case .textByPath: try "new".co.write(toFile: path, atomically: atomically)
      case .arrayByURL: try NSArray(array: [1]).co.write(to: url, atomically: atomically)
      case .arrayByPath: try NSArray(array: [1]).co.write(toFile: path, atomically: atomically)
      case .dictionaryByURL:
        try NSDictionary(dictionary: ["a": 1]).co.write(to: url, atomically: atomically)
      case .dictionaryByPath:
        try NSDictionary(dictionary: ["a": 1]).co.write(toFile: path, atomically: atomically)
      }
    }
  }

  @Test(arguments: Kind.allCases, [true, false])
  func `a write is atomic if that was asked for, and only then (3.5-c4)`(
    _ kind: Kind,
    _ atomically: Bool
  ) throws {
    let folder = try TemporaryFolder()
    let url = try folder.write("old", to: "a")
    // A second name for the file: an atomic write puts another file in the place of the first name.
    try FileManager.default.linkItem(at: url, to: folder.file("link"))
    try runBlocking { try kind.write(to: url, atomically: atomically) }
    try #expect(Data(contentsOf: url) != Data("old".utf8))
    let linked = try Data(contentsOf: folder.file("link"))
    #expect((linked == Data("old".utf8)) == atomically)
  }
}

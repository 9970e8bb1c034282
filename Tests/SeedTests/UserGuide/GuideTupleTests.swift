// SPDX-License-Identifier: Apache-2.0
// The names are those of the document.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation
import Testing
import coswift

/// "User guide", section 7, "COTuple".
@Suite(.timeLimit(.minutes(30))) struct GuideTupleTests {
  private static func cotest_loadContentFromFile(_ filePath: String) -> COPromise<COTuple> {
    COPromise { resolve, _ in
      if FileManager.default.fileExists(atPath: filePath) {
        let data = try Data(contentsOf: URL(fileURLWithPath: filePath))
        resolve(co_tuple(filePath, data, nil))
      } else {
        let error = NSError(domain: "fileNotFound", code: -1)
        resolve(co_tuple(filePath, nil, error))
      }
    }
  }

  @Test func `a promise of a tuple gives a file's path, its data, and no error`() throws {
    let folder = try Folder(["a.txt": "text"])
    let filePath = folder.path("a.txt")
    try inCoroutine {
      var tmpFilePath: String?
      var data: Data?
      var error: NSError?
      let tuple = try co_await(promise: Self.cotest_loadContentFromFile(filePath)).get()
      co_unpack(&tmpFilePath, &data, &error, from: tuple)
      #expect(tmpFilePath == filePath, "file path is wrong")
      #expect((data?.count ?? 0) > 0, "data is wrong")
      #expect(error == nil, "error is wrong")
    }
  }

  @Test func `for a file that is not there it gives the path, no data, and the error`() throws {
    let folder = try Folder()
    let filePath = folder.path("missing.txt")
    try inCoroutine {
      var tmpFilePath: String?
      var data: Data?
      var error: NSError?
      let tuple = try co_await(promise: Self.cotest_loadContentFromFile(filePath)).get()
      co_unpack(&tmpFilePath, &data, &error, from: tuple)
      #expect(tmpFilePath == filePath)
      #expect(data == nil)
      #expect(error?.domain == "fileNotFound")
      #expect(error?.code == -1)
    }
  }
}

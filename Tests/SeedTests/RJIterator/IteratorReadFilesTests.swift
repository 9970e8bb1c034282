// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Foundation
import Testing

/// The function `fs.readFile(name, callback)`.
func fsReadFile(_ url: URL, _ callback: @escaping @Sendable ((any Error)?, String) -> Void) {
  DispatchQueue.global().async {
    do {
      callback(nil, try String(contentsOf: url, encoding: .utf8))
    } catch {
      callback(error, "")
    }
  }
}

/// "RJIterator", the opening: three files, one after the other, in JavaScript.
@Suite(.timeLimit(.minutes(30))) struct IteratorReadFilesTests {
  private let folder: Folder

  init() throws {
    folder = try Folder(["file1.txt": "one", "file2.txt": "two", "file3.txt": "three"])
  }

  /// The function `readFile(name)`, with a `new Promise`.
  private static func readFile(_ url: URL) -> Promise<String> {
    Promise { resolve, reject in
      fsReadFile(url) { err, data in
        if let err { reject(err) } else { resolve(data) }
      }
    }
  }

  // async function read3Files(); its third file is called file3x.txt and is not there.
  @Test(arguments: ["file3.txt", "file3x.txt"])
  func `async and await read three files by code without closures`(_ third: String) throws {
    let log = Log()
    try runBlocking {
      do {
        log(try Self.readFile(folder["file1.txt"]).await())
        log(try Self.readFile(folder["file2.txt"]).await())
        log(try Self.readFile(folder[third]).await())
      } catch {
        log("error")
      }
    }
    #expect(log.entries == ["one", "two", third == "file3.txt" ? "three" : "error"])
  }

  // read3Files with callbacks inside one another, twice in the document
  @Test func `callbacks read three files, one inside the other`() throws {
    let log = Log()
    let end = DispatchSemaphore(value: 0)
    let folder = folder
    fsReadFile(folder["file1.txt"]) { err, data in
      log(data)
      fsReadFile(folder["file2.txt"]) { err, data in
        log(data)
        fsReadFile(folder["file3.txt"]) { err, data in
          log(data)
          end.signal()
        }
      }
    }
    try #require(end.wait(timeout: .now() + 300) == .success)
    #expect(log.entries == ["one", "two", "three"])
  }

  // read3Files with a chain of then
  @Test(arguments: ["file3.txt", "file3x.txt"])
  func `a chain of then reads three files in three closures`(_ third: String) throws {
    let log = Log()
    let folder = folder
    try runBlocking {
      let chain = Self.readFile(folder["file1.txt"])
        .then { data -> Promise<String> in
          log(data)
          return Self.readFile(folder["file2.txt"])
        }
        .then { data -> Promise<String> in
          log(data)
          return Self.readFile(folder[third])
        }
        .then { data -> Void in log(data) }
        .catch { _ in log("error") }
      _ = try chain.settled()
    }
    #expect(log.entries == ["one", "two", third == "file3.txt" ? "three" : "error"])
  }

  // "A callback can be awaited, too": what the chapter leads to, in one call.
  @Test func `a function with a callback is awaited as it is`() throws {
    let folder = folder
    try runBlocking {
      let text = try awaitCallback { (done: CallbackResolver<String>) in
        fsReadFile(folder["file1.txt"]) { err, data in done(data, err) }
      }
      #expect(text == "one")
      #expect(throws: CocoaError.self) {
        try awaitCallback { (done: CallbackResolver<String>) in
          fsReadFile(folder["file3x.txt"]) { err, data in done(err == nil ? data : nil, err) }
        }
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Foundation
import Testing

/// "RJIterator", section "Asynchronous programming made better by generators and iterators", in JavaScript.
@Suite(.timeLimit(.minutes(30))) struct IteratorExecutorTests {
  private let folder: Folder

  init() throws {
    folder = try Folder(["file1.txt": "one", "file2.txt": "two", "file3.txt": "three"])
  }

  /// The `readFile(name)` that returns a closure as the asynchronous operation.
  private static func closure(_ url: URL) -> Operation {
    .closure { callback in fsReadFile(url) { err, data in callback(err, data) } }
  }

  /// The `readFile(name)` that returns a promise as the asynchronous operation.
  private static func promise(_ url: URL) -> Operation {
    .promise(
      Promise(on: .global()) { resolve, reject in
        fsReadFile(url) { err, data in
          if let err { reject(err) } else { resolve(data) }
        }
      }
    )
  }

  /// `executor(function *() { … })`: the document's three files, of which the second may be missing.
  private func read3Files(_ second: String, _ readFile: @escaping (URL) -> Operation) throws
    -> [String]
  {
    let log = Log()
    let folder = folder
    let executor = Executor { yield in
      do {
        let data1 = try yield(readFile(folder["file1.txt"]))
        log(data1 ?? "undefined")
        let data2 = try yield(readFile(folder[second]))
        log(data2 ?? "undefined")
        let data3 = try yield(readFile(folder["file3.txt"]))
        log(data3 ?? "undefined")
      } catch is CocoaError {
        log("error")
      }
    }
    try executor.run()
    return log.entries
  }

  @Test func `an executor runs the closures that a generator yields, and sends their results in`()
    throws
  {
    #expect(try read3Files("file2.txt", Self.closure) == ["one", "two", "three"])
  }

  @Test func `an error is thrown inside the generator`() throws {
    #expect(try read3Files("file2x.txt", Self.closure) == ["one", "error"])
  }

  @Test func `an executor waits for promises, too`() throws {
    #expect(try read3Files("file2.txt", Self.promise) == ["one", "two", "three"])
    #expect(try read3Files("file2x.txt", Self.promise) == ["one", "error"])
  }

  @Test func `anything else comes back at once`() throws {
    #expect(
      try read3Files("file2.txt") { .plain($0.lastPathComponent) } == [
        "file1.txt", "file2.txt", "file3.txt",
      ]
    )
  }
}

/// What a generator yields to the executor.
private enum Operation {
  case closure((@escaping @Sendable ((any Error)?, String) -> Void) -> Void)
  case promise(Promise<String>)
  case plain(String)
}

/// The function `executor(generator)`.
///
/// JavaScript has one thread; the executor has one queue.
private final class Executor: @unchecked Sendable {
  // SAFETY: the iterator is used on the queue only.
  private let iterator: TwoWayGenerator<Operation, String, Void>
  private let queue = DispatchQueue(label: "executor")
  private let end = DispatchSemaphore(value: 0)

  init(_ generator: @escaping (TwoWayGenerator<Operation, String, Void>.Yield) throws -> Void) {
    iterator = TwoWayGenerator(generator)
  }

  /// Runs the generator to its end.
  func run() throws {
    queue.async { self.nextStep { try $0.next() } }
    try #require(end.wait(timeout: .now() + 300) == .success)
  }

  private func nextStep(
    _ resume: (TwoWayGenerator<Operation, String, Void>) throws -> GeneratorStep<Operation, Void>
  ) {
    do {
      switch try resume(iterator) {
      case .yielded(.closure(let operation)):
        operation { err, data in self.goOn(err, data) }
      case .yielded(.promise(let promise)):
        promise.then { data in self.goOn(nil, data) }
          .catch { err in self.goOn(err, "") }
      case .yielded(.plain(let value)):
        nextStep { try $0.next(value) }
      case .returned:
        end.signal()
      }
    } catch {
      end.signal()
    }
  }

  private func goOn(_ err: (any Error)?, _ data: String) {
    queue.async {
      self.nextStep { iterator in
        // The document's executor does not go on after the throw; a generator that catches may.
        if let err { return try iterator.throw(err) }
        return try iterator.next(data)
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Foundation

/// A directory that goes away with this object.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(
      path: "coroutines-\(UUID().uuidString)",
      directoryHint: .isDirectory
    )
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The URL of a file in it.
  func file(_ name: String) -> URL { url.appending(path: name) }

  /// The path of a file in it.
  func path(_ name: String) -> String { file(name).path(percentEncoded: false) }

  /// Makes a file.
  func write(_ text: String, to name: String) throws -> URL {
    try Data(text.utf8).write(to: file(name))
    return file(name)
  }
}

/// An error to throw.
struct Failure: Error, Equatable {
  let code: Int

  init(_ code: Int = 0) { self.code = code }
}

/// Calls `body` inside a coroutine and outside of one; both must agree.
func inAndOut<Result: Equatable>(_ body: () throws -> Result) throws -> Result? {
  let outside = try body()
  let inside = try runBlocking { try body() }
  return inside == outside ? inside : nil
}

/// Whether other coroutines of the scheduler run while `body` waits.
///
/// A short call may be over before there is anything to wait for, so it is made again until they do.
func othersRun(during body: () throws -> Void) throws -> Bool {
  try runBlocking {
    var ticks = 0
    let ticker = launch {
      while true {
        ticks += 1
        try Coroutine.yield()
      }
    }
    repeat { try body() } while ticks == 0
    ticker.cancel()
    return ticks > 0
  }
}

/// Whether `body`, called by a cancelled coroutine, throws `CancellationError`.
func refusesWhenCancelled(_ body: @escaping () throws -> Void) throws -> Bool {
  try runBlocking {
    let coroutine = launch {
      Coroutine.current?.cancel()
      do {
        try body()
        return false
      } catch is CancellationError { return true }
    }
    return try coroutine.value()
  }
}

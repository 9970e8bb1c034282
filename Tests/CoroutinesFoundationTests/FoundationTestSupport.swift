// SPDX-License-Identifier: Apache-2.0

import CCoroutinesFoundation
import CoroutineKernel
import CoroutineTestSupport
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Runs `body` on a thread that belongs to no scheduler, without blocking the caller's.
func onPlainThread<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    startKernelThread(named: "plain") {
      continuation.resume(with: Swift.Result { try body() })
    }
  }
}

/// The HTTP status of a response.
func status(of response: URLResponse) -> Int? { (response as? HTTPURLResponse)?.statusCode }

/// A directory for the time of a test.
func withTemporaryDirectory<Result>(_ body: (URL) throws -> Result) throws -> Result {
  let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("swift-coroutines-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: directory) }
  return try body(directory)
}

/// A pipe that the programs which other tests start do not inherit.
///
/// Foundation's may get into one that is started at the same moment, which then keeps it open.
struct TestPipe {
  let fileHandleForReading: FileHandle
  let fileHandleForWriting: FileHandle

  init() {
    var ends: [Int32] = [-1, -1]
    precondition(ccf_pipe(&ends) == 0)
    fileHandleForReading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    fileHandleForWriting = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
  }
}

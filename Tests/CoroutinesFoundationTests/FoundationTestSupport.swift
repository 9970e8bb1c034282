// SPDX-License-Identifier: Apache-2.0

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

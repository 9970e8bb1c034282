// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Fetches pages and files: again if it fails, and never for longer than allowed.
struct Fetcher {
  let session: URLSession
  let retries: Int
  let timeout: Duration
  let patience: Duration

  /// Called before each further attempt.
  let noteRetry: (_ name: String, _ failure: FetchFailure, _ delay: Duration) -> Void

  /// More of a page is not read.
  private static let pageLimit = 8 << 20

  /// Loads a page into memory.
  ///
  /// - Returns: The page, and where it was in the end.
  /// - Throws: `FetchFailure`; `CancellationError`.
  func page(_ url: URL) throws -> (bytes: [UInt8], url: URL) {
    try again("the page") {
      let body = try open(url)
      return (try whole(body), body.response.url ?? url)
    }.value
  }

  private func whole(_ body: ResponseBody) throws -> [UInt8] {
    var page: [UInt8] = []
    while let part = try next(of: body) {
      page += part
      if page.count > Self.pageLimit {
        throw FetchFailure(.damaged, "the page is too long", isPassing: false)
      }
    }
    return page
  }

  /// Loads a file into a directory.
  ///
  /// - Parameters:
  ///   - link: The file.
  ///   - directory: Where it goes.
  ///   - noteBytes: Called for bytes that have come.
  /// - Returns: What has come of it.
  /// - Throws: `FetchFailure`; `CancellationError`.
  func file(
    _ link: Link,
    into directory: BytePath,
    _ noteBytes: (Int) -> Void
  ) throws -> MirroredFile {
    let start = ContinuousClock.now
    let (copy, attempts) = try again("\(link.name)") { try attempt(link, directory, noteBytes) }
    return MirroredFile(
      name: link.name,
      copy: copy,
      attempts: attempts,
      time: ContinuousClock.now - start
    )
  }

  /// One attempt at a file, from top to bottom.
  private func attempt(
    _ link: Link,
    _ directory: BytePath,
    _ noteBytes: (Int) -> Void
  ) throws -> FileCopy {
    let body = try open(link.url)
    let promise = ServerPromise(body.response)
    let part = try onDisk { try PartFile(in: directory) }
    defer { part.discard() }
    var hash = SHA256()
    var count = 0
    while let chunk = try next(of: body) {
      hash = try onDisk { [hash] in
        var hash = hash
        try chunk.withUnsafeBytes {
          try part.write($0)
          hash.add($0)
        }
        return hash
      }
      count += chunk.count
      noteBytes(chunk.count)
    }
    let digest = hash.finish()
    let verification = try promise.verify(count, digest)
    try onDisk { try part.publish(as: directory.appending(link.name.bytes)) }
    return FileCopy(bytes: count, digest: digest, verification: verification)
  }

  /// Disks are waited for even in cancelled code: whoever leaves must know that nothing is left behind.
  private func onDisk<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) throws -> Result {
    do {
      return try withCancellationShield { try offload(work) }
    } catch let problem as Problem {
      throw FetchFailure(.unwritable, problem.reason, isPassing: false)
    }
  }

  // MARK: - Network

  /// Asks for something, and waits for the head of the answer.
  private func open(_ url: URL) throws -> ResponseBody {
    var request = URLRequest(url: url)
    request.cachePolicy = .reloadIgnoringLocalCacheData
    // Lengths and digests are those of what is sent.
    request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    let body = try network { try session.co.stream(for: request) }
    guard let response = body.response as? HTTPURLResponse else {
      throw FetchFailure(.connection, "no answer of HTTP", isPassing: false)
    }
    let status = response.statusCode
    guard status == 200 else {
      let asked = response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }
      throw FetchFailure(
        .status,
        "status \(status)",
        isPassing: [408, 425, 429].contains(status)
          || status >= 500 && status != 501 && status != 505,
        delay: asked.map { .seconds(max(0, min($0, 60))) }
      )
    }
    return body
  }

  private func next(of body: ResponseBody) throws -> Data? { try network { try body.receive() } }

  /// Waits for the network, but not for long.
  private func network<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try withTimeout(patience, work)
    } catch is TimeoutError {
      throw FetchFailure(.timeout, "nothing came for \(patience.inSeconds)")
    } catch let error as URLError {
      let isPassing = ![.unsupportedURL, .badURL, .secureConnectionFailed].contains(error.code)
      throw FetchFailure(.connection, Self.words(error), isPassing: isPassing)
    }
  }

  private static func words(_ error: URLError) -> String {
    let text = error.localizedDescription
    return text.isEmpty ? "error \(error.code.rawValue)" : text
  }

  /// Tries until it works, it is hopeless, or it has been tried often enough.
  private func again<Result>(
    _ name: String,
    _ attempt: () throws -> Result
  ) throws -> (value: Result, attempts: Int) {
    var backOff = BackOff()
    var attempts = 1
    while true {
      do {
        return (try limited(attempt), attempts)
      } catch let failure as FetchFailure where failure.isPassing && attempts <= retries {
        let delay = max(failure.delay ?? .zero, backOff.next())
        noteRetry(name, failure, delay)
        try Coroutine.sleep(for: delay)
        attempts += 1
      }
    }
  }

  private func limited<Result>(_ attempt: () throws -> Result) throws -> Result {
    do {
      return try withTimeout(timeout, attempt)
    } catch is TimeoutError {
      throw FetchFailure(.timeout, "it took more than \(timeout.inSeconds)")
    }
  }
}

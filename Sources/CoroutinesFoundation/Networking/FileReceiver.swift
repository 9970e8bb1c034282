// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What has come of a download, and what tells whether the server still has the same.
final class PartFile: @unchecked Sendable {
  // SAFETY: `validator` is guarded by `lock`; the file has one writer at a time.
  let path: String
  private let lock = NSLock()
  private var validator: String?

  init(_ path: String, validator: String?) {
    self.path = path
    self.validator = validator
  }

  /// Where to go on, if there is something to go on with.
  var resumption: (offset: Int64, validator: String)? {
    var status = stat()
    guard let validator = lock.withLock({ validator }), stat(path, &status) == 0,
      status.st_size > 0
    else { return nil }
    return (Int64(status.st_size), validator)
  }

  func remove() {
    lock.withLock { validator = nil }
    unlink(path)
  }

  func rename(to destination: String) throws {
    guard Foundation.rename(path, destination) == 0 else { throw POSIXError.current }
    lock.withLock { validator = nil }
  }

  /// Opens the file, empty.
  func openAnew(validator: String?) throws -> FileHandle {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw POSIXError.current }
    lock.withLock { self.validator = validator }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Opens the file to append to it.
  ///
  /// - Throws: If it is not as long as what has come of the server's answer says.
  func openEnd(at start: Int64) throws -> FileHandle {
    guard resumption?.offset == start else { throw URLError(.badServerResponse) }
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError.current }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }
}

extension POSIXError {
  /// What `errno` says.
  static var current: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}

/// Writes one body to a file as it comes.
final class FileReceiver: TransferObserver, @unchecked Sendable {
  // SAFETY: everything that changes is guarded by `lock`.

  /// Settled when the transfer has ended and all is in the file, or when it cannot get there.
  let end = Promise<URLResponse>()

  private let part: PartFile
  private let report: (@Sendable (Double) -> Void)?
  private let lock = NSLock()
  private var response: URLResponse?
  private var handle: FileHandle?
  private var isStopped = false
  private var received: Int64 = 0
  private var expected: Int64 = -1

  init(_ part: PartFile, reporting report: (@Sendable (Double) -> Void)?) {
    self.part = part
    self.report = report
  }

  /// Lets nothing more be written.
  func stop() {
    lock.withLock { closeFile() }
  }

  private func closeFile() {
    isStopped = true
    try? handle?.close()
    handle = nil
  }

  func transfer(didReceive response: URLResponse) {
    failing {
      guard !isStopped else { return }
      self.response = response
      expected = response.expectedContentLength
      let http = response as? HTTPURLResponse
      switch http?.statusCode {
      case 206:
        received = Self.rangeStart(of: http) ?? -1
        handle = try part.openEnd(at: received)
        if expected >= 0 { expected += received }
      case 416: break
      case 200: handle = try part.openAnew(validator: http.flatMap(Self.validator))
      default: handle = try part.openAnew(validator: nil)
      }
    }
  }

  func transfer(didReceive data: Data) {
    var fraction: Double?
    failing {
      guard !isStopped, let handle else { return }
      try handle.write(contentsOf: data)
      received += Int64(data.count)
      if expected > 0 { fraction = min(1, Double(received) / Double(expected)) }
    }
    if let fraction { report?(fraction) }
  }

  func transfer(didSend bytes: Int64, of total: Int64) {}

  func transfer(didEndWith error: (any Error)?) {
    let response = lock.withLock {
      closeFile()
      return self.response
    }
    if let response, error == nil {
      end.fulfill(response)
    } else {
      end.reject(error ?? URLError(.badServerResponse))
    }
  }

  /// Does something with the file under the lock; if that fails, so does the download.
  private func failing(_ body: () throws -> Void) {
    do {
      try lock.withLock { try body() }
    } catch {
      stop()
      end.reject(error)
    }
  }

  private static func rangeStart(of response: HTTPURLResponse?) -> Int64? {
    guard let field = response?.value(forHTTPHeaderField: "Content-Range"),
      field.hasPrefix("bytes "), let dash = field.firstIndex(of: "-")
    else { return nil }
    return Int64(field[..<dash].dropFirst("bytes ".count))
  }

  /// What tells this version of the resource from others: a strong entity tag, else its date.
  private static func validator(of response: HTTPURLResponse) -> String? {
    if let coding = response.value(forHTTPHeaderField: "Content-Encoding"), coding != "identity" {
      return nil
    }
    if let tag = response.value(forHTTPHeaderField: "ETag"), tag.hasPrefix("\"") { return tag }
    return response.value(forHTTPHeaderField: "Last-Modified")
  }
}

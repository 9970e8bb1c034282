// SPDX-License-Identifier: Apache-2.0

import CCoroutinesFoundation
import Coroutines
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What lies between a transfer, which comes when it comes, and one coroutine that takes it.
///
/// So many bytes lie in memory; what comes beyond that is held up, or where Foundation cannot do that,
/// put into a temporary file. Invariant: what is in the file came after all that is in memory, so while
/// the file is not used up, what comes goes there too.
final class ChunkBuffer: TransferObserver, @unchecked Sendable {
  // SAFETY: everything that changes is guarded by `lock`.

  /// The head of the answer.
  let response = Promise<URLResponse>()

  private let limit: Int
  /// Something has changed that the consumer may wait for.
  private let change = Channel<Void>(capacity: .conflated)
  private let lock = NSLock()
  private var chunks: [Data] = []
  private var bytes = 0
  private var overflow: OverflowFile?
  private var isEnded = false
  private var failure: (any Error)?
  private weak var throttled: URLSessionTask?
  private var isHeldUp = false

  init(limit: Int) { self.limit = limit }

  /// What the transfer failed with.
  var error: (any Error)? { lock.withLock { failure } }

  /// Names the task to hold up while the buffer is full.
  func throttle(_ task: URLSessionTask) { lock.withLock { throttled = task } }

  /// The consumer stops; a failure that came before stays.
  func abandon(_ error: any Error) {
    lock.withLock {
      failure = failure ?? (isEnded ? nil : error)
      isEnded = true
      chunks = []
      overflow = nil
    }
  }

  // MARK: - The transfer's side

  func transfer(didReceive response: URLResponse) { self.response.fulfill(response) }

  func transfer(didReceive data: Data) {
    lock.withLock {
      guard !isEnded else { return }
      if let overflow {
        overflow.append(data)
      } else if bytes == 0 || bytes + data.count <= limit {
        keep(data)
      } else {
        #if canImport(FoundationNetworking)
        overflow = OverflowFile(data)
        // Without a file, memory is what is left.
        if overflow == nil { keep(data) }
        #else
        keep(data)
        if !isHeldUp {
          isHeldUp = true
          throttled?.suspend()
        }
        #endif
      }
    }
    change.sendIfReady(())
  }

  private func keep(_ data: Data) {
    chunks.append(data)
    bytes += data.count
  }

  func transfer(didSend bytes: Int64, of total: Int64) {}

  func transfer(didEndWith error: (any Error)?) {
    lock.withLock {
      guard !isEnded else { return }
      isEnded = true
      failure = error
    }
    response.reject(error ?? URLError(.badServerResponse))
    change.sendIfReady(())
  }

  // MARK: - The consumer's side

  private enum Step {
    case chunk(Data)
    case file(OverflowFile)
    case wait
    case end
  }

  /// The next part; parks until there is one.
  ///
  /// - Returns: Nil at the end.
  /// - Throws: What the transfer failed with, after all that came before; `CancellationError`.
  func next() throws -> Data? {
    while true {
      switch step() {
      case .chunk(let data): return data
      case .file(let file):
        if let data = try offload({ try file.read() }) { return data }
        lock.withLock {
          // Something may have been appended since.
          if file.isUsedUp, overflow === file { overflow = nil }
        }
      case .wait: try change.receive()
      case .end:
        if let error { throw error }
        return nil
      }
    }
  }

  private func step() -> Step {
    lock.withLock {
      if !chunks.isEmpty {
        let chunk = chunks.removeFirst()
        bytes -= chunk.count
        if isHeldUp, bytes <= limit / 2 {
          isHeldUp = false
          throttled?.resume()
        }
        return .chunk(chunk)
      }
      if let overflow { return .file(overflow) }
      return isEnded ? .end : .wait
    }
  }
}

/// A temporary file without a name, written at its end and read from its beginning.
private final class OverflowFile: @unchecked Sendable {
  // SAFETY: the counts are guarded by `lock`; the two positions have one user each.
  private let descriptor: Int32
  private let lock = NSLock()
  private var written: Int64 = 0
  private var taken: Int64 = 0
  private var failure: (any Error)?

  /// Nil if there is no place for such a file.
  init?(_ data: Data) {
    let template = FileManager.default.temporaryDirectory.appendingPathComponent("body-XXXXXX").path
    var path = Array(template.utf8CString)
    descriptor = ccf_open_temporary(&path)
    guard descriptor >= 0 else { return nil }
    unlink(path)
    append(data)
  }

  deinit { close(descriptor) }

  /// All that was written has been read.
  var isUsedUp: Bool { lock.withLock { failure == nil && taken == written } }

  func append(_ data: Data) {
    let start = lock.withLock { written }
    var done = 0
    data.withUnsafeBytes { bytes in
      while done < bytes.count {
        let part = UnsafeRawBufferPointer(rebasing: bytes[done...])
        let count = pwrite(descriptor, part.baseAddress, part.count, off_t(start) + off_t(done))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else {
          let code = errno
          lock.withLock { failure = POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
          return
        }
        done += count
      }
    }
    lock.withLock { written += Int64(done) }
  }

  /// The next bytes; nil if all have been read.
  func read() throws -> Data? {
    let (start, count) = lock.withLock { (taken, Int(min(written - taken, 1 << 18))) }
    guard count > 0 else {
      if let failure = lock.withLock({ failure }) { throw failure }
      return nil
    }
    var data = Data(count: count)
    let read = data.withUnsafeMutableBytes {
      pread(descriptor, $0.baseAddress, $0.count, off_t(start))
    }
    guard read > 0 else { throw POSIXError.current }
    lock.withLock { taken += Int64(read) }
    return data.prefix(read)
  }
}

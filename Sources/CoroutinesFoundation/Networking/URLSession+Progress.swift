// SPDX-License-Identifier: Apache-2.0

public import Coroutines
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Transfers that tell how far they have come.
///
/// Each begins when its promise is made, on the scheduler of the code that makes it. Cancelling the promise
/// cancels the task. The body's length must be known (`Content-Length`); else no fraction is reported.
extension CoroutineNamespace where Base: URLSession {
  /// Loads the answer to a request, and tells how much of it has come; does not park.
  ///
  /// ```swift
  /// let loading = session.co.dataProgress(for: request)
  /// for fraction in loading { bar.draw(fraction) }
  /// let (data, response) = try loading.await()
  /// ```
  ///
  /// - Parameter request: The request.
  /// - Returns: The promise of what `data(for:)` returns.
  public func dataProgress(for request: URLRequest) -> ProgressPromise<(Data, URLResponse)> {
    transfer(request, .none, countsBodySent: false)
  }

  /// Sends a body, tells how much of it has been sent, and loads the answer; does not park.
  ///
  /// - Parameters:
  ///   - request: The request; its own body is not used.
  ///   - body: What to send.
  /// - Returns: The promise of what `upload(for:from:)` returns.
  public func uploadProgress(
    for request: URLRequest,
    from body: Data
  ) -> ProgressPromise<(Data, URLResponse)> {
    transfer(request, .data(body), countsBodySent: true)
  }

  /// Sends a file, tells how much of it has been sent, and loads the answer; does not park.
  ///
  /// - Parameters:
  ///   - request: The request; its own body is not used.
  ///   - file: The file to send.
  /// - Returns: The promise of what `upload(for:fromFile:)` returns.
  public func uploadProgress(
    for request: URLRequest,
    fromFile file: URL
  ) -> ProgressPromise<(Data, URLResponse)> {
    transfer(request, .file(file), countsBodySent: true)
  }

  private func transfer(
    _ request: URLRequest,
    _ body: TransferBody,
    countsBodySent: Bool
  ) -> ProgressPromise<(Data, URLResponse)> {
    let promise = ProgressPromise<(Data, URLResponse)>()
    let collector = BodyCollector(promise, countsBodySent: countsBodySent)
    let task = Transfer.makeTask(for: request, uploading: body, in: base, reportingTo: collector)
    promise.onCancel { task.cancel() }
    task.resume()
    return promise
  }
}

extension ResumableDownload {
  /// Does what `run` does, and tells how much of the whole has come; does not park.
  ///
  /// A download that goes on begins with the fraction that it has.
  ///
  /// - Returns: The promise of what `run` returns.
  public func progress() -> ProgressPromise<(URL, URLResponse)> {
    let meter = ProgressMeter()
    let promise = Promise<(URL, URLResponse)>()
    let work = launch(name: "download") {
      do {
        promise.fulfill(try self.run { meter.report($0) })
      } catch {
        promise.reject(error)
      }
    }
    promise.onCancel { _ in work.cancel() }
    return ProgressPromise(promise, meter: meter)
  }
}

/// Puts a body together.
private final class BodyCollector: TransferObserver, @unchecked Sendable {
  // SAFETY: guarded by `lock`.
  private let promise: ProgressPromise<(Data, URLResponse)>
  private let countsBodySent: Bool
  private let lock = NSLock()
  private var response: URLResponse?
  private var data = Data()

  init(_ promise: ProgressPromise<(Data, URLResponse)>, countsBodySent: Bool) {
    self.promise = promise
    self.countsBodySent = countsBodySent
  }

  func transfer(didReceive response: URLResponse) {
    lock.withLock { self.response = response }
  }

  func transfer(didReceive data: Data) {
    let (count, expected) = lock.withLock {
      self.data.append(data)
      return (self.data.count, response?.expectedContentLength ?? -1)
    }
    if !countsBodySent, expected > 0 { promise.report(Double(count) / Double(expected)) }
  }

  func transfer(didSend bytes: Int64, of total: Int64) {
    if countsBodySent, total > 0 { promise.report(Double(bytes) / Double(total)) }
  }

  func transfer(didEndWith error: (any Error)?) {
    let (response, data) = lock.withLock { (self.response, self.data) }
    if let error {
      promise.reject(error)
    } else if let response {
      promise.fulfill((data, response))
    } else {
      promise.reject(URLError(.badServerResponse))
    }
  }
}

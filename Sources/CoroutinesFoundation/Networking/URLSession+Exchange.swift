// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLSession: CoroutineNamespaceProviding {}

extension CoroutineNamespace where Base: URLSession {
  /// Loads what is at an address; parks until the whole body is there.
  ///
  /// A status such as 404 is no error: it is in the response. Outside a coroutine it blocks the thread.
  ///
  /// *Cancellation:* cancels the task, which closes its connection.
  ///
  /// - Parameter url: Where it is.
  /// - Returns: The body and the response.
  /// - Throws: What `URLSession` reports, as it is; `CancellationError`.
  @available(*, noasync, message: "In async code, write `try await session.data(from: url)`.")
  public func data(from url: URL) throws -> (Data, URLResponse) {
    try data(for: URLRequest(url: url))
  }

  /// Loads the answer to a request; parks until the whole body is there.
  ///
  /// A status such as 404 is no error: it is in the response. Outside a coroutine it blocks the thread.
  ///
  /// *Cancellation:* cancels the task, which closes its connection.
  ///
  /// - Parameter request: The request.
  /// - Returns: The body and the response.
  /// - Throws: What `URLSession` reports, as it is; `CancellationError`.
  @available(*, noasync, message: "In async code, write `try await session.data(for: request)`.")
  public func data(for request: URLRequest) throws -> (Data, URLResponse) {
    try exchange { base.dataTask(with: request, completionHandler: $0) }
  }

  /// Sends a body and loads the answer; parks until all of it is there.
  ///
  /// *Cancellation, errors, outside a coroutine:* as `data(for:)`.
  ///
  /// - Parameters:
  ///   - request: The request; its own body is not used.
  ///   - body: What to send.
  /// - Returns: The body and the response.
  /// - Throws: What `URLSession` reports, as it is; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func upload(for request: URLRequest, from body: Data) throws -> (Data, URLResponse) {
    try exchange { base.uploadTask(with: request, from: body, completionHandler: $0) }
  }

  /// Sends a file and loads the answer; parks until all of it is there.
  ///
  /// *Cancellation, errors, outside a coroutine:* as `data(for:)`.
  ///
  /// - Parameters:
  ///   - request: The request; its own body is not used.
  ///   - file: The file to send.
  /// - Returns: The body and the response.
  /// - Throws: What `URLSession` reports, as it is; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func upload(for request: URLRequest, fromFile file: URL) throws -> (Data, URLResponse) {
    try exchange { base.uploadTask(with: request, fromFile: file, completionHandler: $0) }
  }

  /// Runs a task of this session to its end.
  private func exchange(
    _ makeTask: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) ->
      URLSessionTask
  ) throws -> (Data, URLResponse) {
    demand(
      base.delegateQueue !== OperationQueue.main || !Thread.isMainThread
        || !(Coroutine.current == nil || Scheduler.current.core is EventLoop),
      "This URLSession reports on the main queue, and the main thread was about to wait for it without "
        + "serving that queue. Call this in a coroutine of the main queue or of another thread "
        + "(`launch(on:)`), or use a session with another queue."
    )
    return try runBlocking {
      try Coroutine.checkCancellation()
      let promise = Promise<(Data, URLResponse)>()
      let task = makeTask { data, response, error in
        if let error {
          promise.reject(error)
        } else if let response {
          promise.fulfill((data ?? Data(), response))
        } else {
          promise.reject(URLError(.badServerResponse))
        }
      }
      task.resume()
      do {
        return try promise.await()
      } catch {
        // Without effect on a task that has ended.
        task.cancel()
        throw error
      }
    }
  }
}

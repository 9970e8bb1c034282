// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What happens in a transfer, in order, on a queue that serves no other transfer's reports.
protocol TransferObserver: AnyObject, Sendable {
  /// The head of the answer has come; after redirections.
  func transfer(didReceive response: URLResponse)
  /// A part of the body has come.
  func transfer(didReceive data: Data)
  /// So much of the request's body has been sent, of so much (-1 if that is not known).
  func transfer(didSend bytes: Int64, of total: Int64)
  /// The last report.
  func transfer(didEndWith error: (any Error)?)
}

/// A task whose steps are reported one by one.
///
/// On Apple systems it is a task of the given session, with a delegate of its own. Foundation on Linux
/// asks only a session's delegate, so there the task has a session of its own, with the configuration
/// of the given one (cookies, credentials and cache are shared through it), which ends with the task.
/// Redirections and challenges still go to the given session's delegate.
final class Transfer: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  // SAFETY: constants only.
  private let observer: any TransferObserver
  private let origin: URLSession

  private init(_ observer: any TransferObserver, _ origin: URLSession) {
    self.observer = observer
    self.origin = origin
  }

  /// Makes a task that reports to `observer`, which it holds until it has ended; it must be resumed.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - body: What to upload, if anything.
  ///   - origin: The session that it is to behave as a task of.
  ///   - observer: Gets the reports.
  /// - Returns: The task.
  static func makeTask(
    for request: URLRequest,
    uploading body: TransferBody = .none,
    in origin: URLSession,
    reportingTo observer: any TransferObserver
  ) -> URLSessionTask {
    let delegate = Transfer(observer, origin)
    #if canImport(FoundationNetworking)
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let session = URLSession(
      configuration: origin.configuration,
      delegate: delegate,
      delegateQueue: queue
    )
    // The session holds its delegate until its only task has ended.
    defer { session.finishTasksAndInvalidate() }
    #else
    let session = origin
    #endif
    let task =
      switch body {
      case .none: session.dataTask(with: request)
      case .data(let data): session.uploadTask(with: request, from: data)
      case .file(let file): session.uploadTask(with: request, fromFile: file)
      }
    #if !canImport(FoundationNetworking)
    task.delegate = delegate
    #endif
    return task
  }

  func urlSession(
    _ session: URLSession,
    dataTask: URLSessionDataTask,
    didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    observer.transfer(didReceive: response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    observer.transfer(didReceive: data)
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    observer.transfer(didSend: totalBytesSent, of: totalBytesExpectedToSend)
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didCompleteWithError error: (any Error)?
  ) {
    observer.transfer(didEndWith: error)
  }

  #if canImport(FoundationNetworking)
  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    guard let delegate = origin.delegate as? any URLSessionTaskDelegate else {
      completionHandler(request)
      return
    }
    delegate.urlSession(
      origin,
      task: task,
      willPerformHTTPRedirection: response,
      newRequest: request,
      completionHandler: completionHandler
    )
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard let delegate = origin.delegate as? any URLSessionTaskDelegate else {
      completionHandler(.performDefaultHandling, nil)
      return
    }
    delegate.urlSession(
      origin,
      task: task,
      didReceive: challenge,
      completionHandler: completionHandler
    )
  }
  #endif
}

/// What a transfer uploads.
enum TransferBody: Sendable {
  /// Nothing but what the request says itself.
  case none
  case data(Data)
  case file(URL)
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
public import Coroutines
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension CoroutineNamespace where Base: URLSession {
  /// Loads what is at an address piece by piece; see `stream(for:bufferSize:)`.
  ///
  /// - Parameters:
  ///   - url: Where it is.
  ///   - bufferSize: Bytes kept in memory for a slow consumer.
  /// - Returns: The response and its body to come.
  /// - Throws: What `URLSession` reports, as it is; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func stream(from url: URL, bufferSize: Int = 1 << 20) throws -> ResponseBody {
    try stream(for: URLRequest(url: url), bufferSize: bufferSize)
  }

  /// Loads the answer to a request piece by piece; parks until its head has come.
  ///
  /// ```swift
  /// let body = try session.co.stream(from: url)
  /// while let chunk = try body.receive() { hash.update(data: chunk) }
  /// ```
  ///
  /// The body flows through a channel, and what its consumer has not taken is kept, up to `bufferSize`
  /// bytes of it in memory. When that is full, the task is suspended on Apple systems, and the server
  /// has to wait. Foundation on Linux cannot hold a transfer up (there `suspend` drops the connection
  /// and `resume` begins the request anew): there the rest goes to a temporary file, which has no name
  /// and goes away by itself. So memory is bounded everywhere; what a slow consumer of an endless answer
  /// uses up on Linux is space for temporary files.
  ///
  /// A status such as 404 is no error: it is in the response. Outside a coroutine it blocks the thread.
  ///
  /// *Cancellation:* of the calling coroutine, now or later, cancels the task, which closes its
  /// connection. So does dropping the body, and `ResponseBody.cancel()`.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - bufferSize: Bytes kept in memory for a slow consumer; more than 0.
  /// - Returns: The response and its body to come.
  /// - Throws: What `URLSession` reports, as it is; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func stream(for request: URLRequest, bufferSize: Int = 1 << 20) throws -> ResponseBody {
    demand(bufferSize > 0, "stream(for:bufferSize: \(bufferSize)): it must be more than 0.")
    try Coroutine.checkCancellation()
    let buffer = ChunkBuffer(limit: bufferSize)
    let task = Transfer.makeTask(for: request, in: base, reportingTo: buffer)
    buffer.throttle(task)
    task.resume()
    let response: URLResponse
    do {
      response = try runBlocking { try buffer.response.await() }
    } catch {
      task.cancel()
      throw error
    }
    return ResponseBody(response, task, buffer)
  }
}

/// The body of an answer, while it comes.
///
/// One consumer at a time. Dropping it cancels what has not come.
public final class ResponseBody: Sequence, Sendable {
  /// The head of the answer: status and fields.
  public let response: URLResponse
  private let chunks = Channel<Data>()
  private let task: URLSessionTask
  private let buffer: ChunkBuffer
  private let pump: Coroutine

  init(_ response: URLResponse, _ task: URLSessionTask, _ buffer: ChunkBuffer) {
    self.response = response
    self.task = task
    self.buffer = buffer
    let chunks = chunks
    let stop: @Sendable () -> Void = {
      chunks.close()
      task.cancel()
    }
    let cancelled: @Sendable () -> Void = {
      buffer.abandon(CancellationError())
      stop()
    }
    pump = launchServant("response body", ifNotRun: cancelled) {
      defer { stop() }
      do {
        while let chunk = try buffer.next() { try chunks.send(chunk) }
      } catch {
        // What the transfer failed with is told by `receive()`, and this one's end by the channel.
        buffer.abandon(error)
      }
    }
  }

  deinit { cancel() }

  /// Receives the next part of the body; parks until there is one.
  ///
  /// Outside a coroutine it blocks the thread.
  ///
  /// *Cancellation:* receives nothing.
  ///
  /// - Returns: One byte or more; nil at the end of the body.
  /// - Throws: What `URLSession` reports, as it is (a body that is shorter than announced is an error);
  ///   `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func receive() throws -> Data? {
    do {
      return try runBlocking { try chunks.receive() }
    } catch ChannelError.closed {
      if let error { throw error }
      return nil
    }
  }

  /// The parts of the body as a channel, for `select`.
  ///
  /// It is closed at the end; then `error` says whether that was the end of the body.
  public var channel: ReceiveEnd<Data> { chunks.receiveEnd }

  /// What the transfer failed with; nil while it has not.
  public var error: (any Error)? { buffer.error }

  /// Stops the transfer and closes its connection; what is kept is dropped.
  public func cancel() {
    pump.cancel()
    task.cancel()
  }

  /// Receives one part after the other.
  public struct Iterator: IteratorProtocol {
    let body: ResponseBody

    /// Receives the next part; parks until there is one.
    ///
    /// - Returns: Nil at the end, after a failure (then `ResponseBody.error` says which), and in
    ///   cancelled code.
    public mutating func next() -> Data? { body.nextInIteration() }
  }

  /// An iterator that receives.
  public func makeIterator() -> Iterator { Iterator(body: self) }

  /// `receive` under a name that the compiler allows in places it cannot see to be synchronous.
  fileprivate func nextInIteration() -> Data? { try? receive() }
}

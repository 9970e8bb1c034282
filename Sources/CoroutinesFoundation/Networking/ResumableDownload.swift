// SPDX-License-Identifier: Apache-2.0

import Coroutines
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension CoroutineNamespace where Base: URLSession {
  /// Loads what is at an address into a file that stays; parks until it is complete.
  ///
  /// A status such as 404 is no error: the file then holds the body of that answer. Outside a coroutine
  /// it blocks the thread.
  ///
  /// *Cancellation:* cancels the task, which closes its connection; no file is left.
  ///
  /// - Parameters:
  ///   - url: Where it is.
  ///   - file: Where it goes; what is there is replaced once all has come. A new file in the temporary
  ///     directory if left out.
  /// - Returns: The file and the response.
  /// - Throws: What `URLSession` reports, as it is; what the file system reports; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func download(from url: URL, to file: URL? = nil) throws -> (URL, URLResponse) {
    try download(for: URLRequest(url: url), to: file)
  }

  /// Loads the answer to a request into a file that stays; parks until it is complete.
  ///
  /// *Cancellation, errors, outside a coroutine:* as `download(from:to:)`.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - file: Where it goes; what is there is replaced once all has come. A new file in the temporary
  ///     directory if left out.
  /// - Returns: The file and the response.
  /// - Throws: What `URLSession` reports, as it is; what the file system reports; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func download(for request: URLRequest, to file: URL? = nil) throws -> (URL, URLResponse) {
    let download = resumableDownload(for: request, to: file)
    do {
      return try download.run()
    } catch {
      download.discard()
      throw error
    }
  }

  /// A download that goes on where it stopped.
  ///
  /// Nothing happens before `ResumableDownload.run()`.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - file: Where it goes; what is there is replaced once all has come. A new file in the temporary
  ///     directory if left out.
  /// - Returns: The download.
  public func resumableDownload(for request: URLRequest, to file: URL? = nil) -> ResumableDownload {
    ResumableDownload(base, request, to: file ?? ResumableDownload.newFile)
  }

  /// A download that goes on where another one stopped, perhaps in another process.
  ///
  /// - Parameter resumeData: `ResumableDownload.resumeData` of the other one.
  /// - Returns: The download.
  /// - Throws: `DecodingError` if that is something else.
  public func resumableDownload(resumeData: Data) throws -> ResumableDownload {
    try ResumableDownload(base, resumeData)
  }
}

/// A download that keeps what has come when it fails or is cancelled, and goes on from there.
///
/// ```swift
/// let download = session.co.resumableDownload(for: URLRequest(url: url), to: file)
/// while true {
///   do {
///     _ = try download.run()
///     break
///   } catch let error as URLError where error.code != .cancelled {
///     try Coroutine.sleep(for: .seconds(1))
///   }
/// }
/// ```
///
/// What has come is in a file beside the destination, whose name ends in `.part`. The next run asks the
/// server for the rest with the fields `Range` and `If-Range`. A server that has no strong entity tag
/// and no date for it, or has something else by now, sends it from the beginning. This is done here
/// and not by Foundation, which on Linux does not support resume data.
public final class ResumableDownload: Sendable {
  /// What must be known to go on later, in another process.
  private struct Bookmark: Codable {
    let url: URL
    let headers: [String: String]
    let file: URL
    let validator: String
  }

  /// Where the download goes.
  public let file: URL
  private let session: URLSession
  private let request: URLRequest
  private let part: PartFile

  init(_ session: URLSession, _ request: URLRequest, to file: URL, validator: String? = nil) {
    self.session = session
    self.request = request
    self.file = file
    part = PartFile(file.appendingPathExtension("part").path, validator: validator)
  }

  convenience init(_ session: URLSession, _ resumeData: Data) throws {
    let bookmark = try JSONDecoder().decode(Bookmark.self, from: resumeData)
    var request = URLRequest(url: bookmark.url)
    request.allHTTPHeaderFields = bookmark.headers
    self.init(session, request, to: bookmark.file, validator: bookmark.validator)
  }

  static var newFile: URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("download-\(UUID().uuidString)")
  }

  /// Loads what has not come yet; parks until the file is complete.
  ///
  /// One run at a time. Outside a coroutine it blocks the thread.
  ///
  /// *Cancellation:* cancels the task, which closes its connection. What has come stays for another run.
  ///
  /// - Returns: The file and the response; of a resumed download that is the one to the last request, and
  ///   its status is 206.
  /// - Throws: What `URLSession` reports, as it is; what the file system reports; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func run() throws -> (URL, URLResponse) { try run(reporting: nil) }

  /// The same, with a report of the fraction that has come.
  func run(reporting report: (@Sendable (Double) -> Void)?) throws -> (URL, URLResponse) {
    try runBlocking {
      try Coroutine.checkCancellation()
      while true {
        let start = part.resumption
        let receiver = FileReceiver(part, reporting: report)
        var request = request
        // Offsets count the bytes as they lie in the file.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        if let start {
          request.setValue("bytes=\(start.offset)-", forHTTPHeaderField: "Range")
          request.setValue(start.validator, forHTTPHeaderField: "If-Range")
        }
        let task = Transfer.makeTask(for: request, in: session, reportingTo: receiver)
        task.resume()
        let response: URLResponse
        do {
          response = try receiver.end.await()
        } catch {
          task.cancel()
          // From here on nothing is written, so that another run may begin.
          receiver.stop()
          throw error
        }
        if start != nil, (response as? HTTPURLResponse)?.statusCode == 416 {
          // The part does not fit what the server has.
          part.remove()
          continue
        }
        try part.rename(to: file.path)
        return (file, response)
      }
    }
  }

  /// What another process needs to go on: `resumableDownload(resumeData:)`.
  ///
  /// Nil while nothing has come that could be resumed. It holds the request's address and header fields,
  /// and so perhaps secrets.
  public var resumeData: Data? {
    guard let url = request.url, let start = part.resumption else { return nil }
    return try? JSONEncoder().encode(
      Bookmark(
        url: url,
        headers: request.allHTTPHeaderFields ?? [:],
        file: file,
        validator: start.validator
      )
    )
  }

  /// Removes what has come; not to be called during a run.
  public func discard() { part.remove() }
}

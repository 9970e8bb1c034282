// SPDX-License-Identifier: Apache-2.0

import CCurl
import Coroutines

/// One GET, with libcurl's easy interface.
final class Transfer {
  let handle: UnsafeMutableRawPointer
  private(set) var body: [UInt8] = []

  /// A transfer that has not begun.
  ///
  /// - Parameters:
  ///   - address: The URL.
  ///   - limit: After how many milliseconds libcurl itself gives up; 0 for never.
  /// - Throws: `CurlError`.
  init(_ address: String, limit: Int = 0) throws {
    guard let handle = curl_easy_init() else { throw CurlError(CURLE_OUT_OF_MEMORY) }
    self.handle = handle
    let context = Unmanaged.passUnretained(self).toOpaque()
    let codes = [
      example_set_text(handle, CURLOPT_URL, address),
      example_set_text(handle, CURLOPT_NOPROXY, "*"),
      example_set_long(handle, CURLOPT_TIMEOUT_MS, limit),
      // Else libcurl sets and resets the process's signals around each transfer, of which many overlap.
      example_set_long(handle, CURLOPT_NOSIGNAL, 1),
      example_set_long(handle, CURLOPT_NOPROGRESS, 0),
      // SAFETY: the handle is this object's own, and cleaned up with it.
      example_set_pointer(handle, CURLOPT_WRITEDATA, context),
      example_set_writer(handle) { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        transfer.body += UnsafeRawBufferPointer(start: bytes, count: size * count)
        return size * count
      },
      // libcurl asks this after each of its waits; whether it minds that one failed is up to its version.
      example_set_progress(handle) { _, _, _, _, _ in Coroutine.isCancelled ? 1 : 0 },
    ]
    for code in codes where code != CURLE_OK { throw CurlError(code) }
  }

  deinit {
    curl_easy_cleanup(handle)
  }

  /// Does it; parks until the whole answer is there.
  ///
  /// *Cancellation:* ends the wait, and closes the connection with the transfer.
  ///
  /// - Returns: The body, as text.
  /// - Throws: `CurlError`; `CancellationError`.
  func perform() throws -> String {
    let code = curl_easy_perform(handle)
    try Coroutine.checkCancellation()
    if code != CURLE_OK { throw CurlError(code) }
    return try text()
  }

  /// The body, once the transfer is done.
  ///
  /// - Throws: `CurlError`, unless the status is 200.
  func text() throws -> String {
    var status = 0
    example_get_status(handle, &status)
    guard status == 200 else { throw CurlError(CURLE_HTTP_RETURNED_ERROR) }
    return String(decoding: body, as: UTF8.self)
  }
}

/// What libcurl had to object.
struct CurlError: Error, CustomStringConvertible {
  let code: CURLcode

  init(_ code: CURLcode) {
    self.code = code
  }

  var description: String { String(cString: curl_easy_strerror(code)) }
}

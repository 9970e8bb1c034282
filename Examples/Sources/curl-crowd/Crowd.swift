// SPDX-License-Identifier: Apache-2.0

import CCurl
import Coroutines
import ExampleSupport
import Synchronization

/// Many transfers, all at once.
struct Crowd {
  let transfers: Int
  let server: String

  private func address(_ number: Int) -> String { "\(server)/item/\(number)?delay=50" }

  /// Each transfer in a coroutine of its own, all on the calling thread.
  func inCoroutines(_ threads: ThreadCount) throws -> [String] {
    try withCoroutineScope { scope in
      let answers = (0..<transfers).map { number in
        scope.launch {
          let answer = try Transfer(address(number)).perform()
          if number.isMultiple(of: 16) { threads.note() }
          return answer
        }
      }
      return try answers.map { try $0.value() }
    }
  }

  /// Each transfer on a thread of its own.
  func inThreads(_ threads: ThreadCount) -> [String] {
    let answers = Mutex([String](repeating: "", count: transfers))
    runThreads(transfers) { number in
      do {
        let answer = try Transfer(address(number)).perform()
        if number.isMultiple(of: 16) { threads.note() }
        answers.withLock { $0[number] = answer }
      } catch {
        stop("a thread's transfer: \(error)")
      }
    }
    return answers.withLock { $0 }
  }

  /// The same by libcurl's multi interface, on the calling thread.
  func asynchronously(_ threads: ThreadCount) throws -> [String] {
    guard let multi = curl_multi_init() else { throw CurlError(CURLE_OUT_OF_MEMORY) }
    defer { curl_multi_cleanup(multi) }
    let transfers = try (0..<transfers).map { try Transfer(address($0)) }
    for transfer in transfers { curl_multi_add_handle(multi, transfer.handle) }
    defer { for transfer in transfers { curl_multi_remove_handle(multi, transfer.handle) } }
    threads.note()
    var running: Int32 = 0
    while true {
      guard curl_multi_perform(multi, &running) == CURLM_OK else {
        throw CurlError(CURLE_RECV_ERROR)
      }
      if running == 0 { break }
      curl_multi_poll(multi, nil, 0, 1000, nil)
    }
    return try transfers.map { try $0.text() }
  }
}

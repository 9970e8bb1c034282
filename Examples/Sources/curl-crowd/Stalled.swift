// SPDX-License-Identifier: Apache-2.0

import CCurl
import Coroutines
import ExampleSupport

/// A server that begins an answer and never ends it.
enum Stalled {
  /// Two transfers of such a kind, one limited by libcurl and one by `withTimeout`, beside a crowd that is not stalled.
  static func run(_ server: String, beside crowd: Crowd, _ checks: Checks) throws {
    var finished = 0
    let start = ContinuousClock.now
    try withCoroutineScope { scope in
      scope.launch {
        do {
          _ = try Transfer("\(server)/stall", limit: 1000).perform()
          checks.expect(false, "CURLOPT_TIMEOUT_MS ends a stalled transfer")
        } catch let error as CurlError {
          let took = seconds(ContinuousClock.now - start)
          checks.expect(
            error.code == CURLE_OPERATION_TIMEDOUT,
            "CURLOPT_TIMEOUT_MS(1000) ended a stalled transfer after \(took) s"
          )
        }
      }
      scope.launch {
        do {
          try withTimeout(.seconds(1)) { _ = try Transfer("\(server)/stall").perform() }
          checks.expect(false, "withTimeout ends a stalled transfer")
        } catch is TimeoutError {
          let took = ContinuousClock.now - start
          checks.expect(
            took < .seconds(5),
            "withTimeout(1 s) ended a stalled transfer after \(seconds(took)) s"
          )
        }
      }
      finished = try crowd.inCoroutines(ThreadCount()).count
    }
    checks.expect(finished == crowd.transfers, "\(finished) others were done meanwhile")
    try withTimeout(.seconds(5)) {
      while try Transfer("\(server)/stalled").perform() != "0" {
        try Coroutine.sleep(for: .milliseconds(5))
      }
    }
    checks.expect(true, "the server saw both connections closed")
  }
}

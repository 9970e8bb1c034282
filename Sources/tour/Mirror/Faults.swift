// SPDX-License-Identifier: Apache-2.0

import Coroutines
import HTTPServer

/// Spoils answers as networks do, each file's in its own way, and only its first ones.
final class Faults {
  /// The connection breaks on purpose.
  private struct Break: Error {}

  /// How often each file has been asked for.
  private var requests: [Int: Int] = [:]

  /// What becomes of the answer to a request for the file of this number.
  func spoil(_ response: HTTPResponse, of number: Int) throws -> HTTPResponse {
    let request = requests[number, default: 0]
    requests[number] = request + 1
    switch (number % 8, request) {
    case (1, 0), (6, 0), (6, 1): throw HTTPRefusal(503, "come again later")
    case (2, 0): return cut(response) { throw Break() }
    // Longer than anybody waits; it ends when the client goes, or the server stops.
    case (3, 0) where number < 8:
      return cut(response) { try Coroutine.sleep(for: .seconds(3600)) }
    case (4, 0): return garbled(response)
    default: return response
    }
  }

  /// Half of the body, and then something else.
  private func cut(
    _ response: HTTPResponse,
    _ then: @escaping () throws -> Void
  ) -> HTTPResponse {
    var response = response
    guard case .bytes(let bytes) = response.body else { return response }
    response.body = .stream(length: bytes.count) { writer in
      try writer.write(Array(bytes.prefix(bytes.count / 2)))
      try then()
      throw Break()
    }
    return response
  }

  /// One byte is another one.
  private func garbled(_ response: HTTPResponse) -> HTTPResponse {
    var response = response
    guard case .bytes(var bytes) = response.body, !bytes.isEmpty else { return response }
    bytes[bytes.count / 2] ^= 1
    response.body = .bytes(bytes)
    return response
  }
}

// SPDX-License-Identifier: Apache-2.0

import CBlockingCode
import Coroutines
import CoroutinesBlockingCalls
import Glibc
import Testing

/// All of it in one suite, one test after another: the switch and the counts are the process's.
@Suite(.serialized, .timeLimit(.minutes(30))) struct BlockingCallsTests {}

/// Two connected sockets, or the two ends of a pipe: read from the first.
struct Pair {
  let first: Int32
  let second: Int32

  static func sockets() -> Pair { make(cbl_pair) }
  static func pipe() -> Pair { make(cbl_pipe) }

  private static func make(_ call: (UnsafeMutablePointer<Int32>) -> Int32) -> Pair {
    var ends: [Int32] = [-1, -1]
    #expect(call(&ends) == 0)
    return Pair(first: ends[0], second: ends[1])
  }

  /// Closes both ends, if nobody has.
  func close() {
    _ = cbl_close(first)
    _ = cbl_close(second)
  }
}

/// Runs coroutines on one thread, with parking switched on for them.
func parking<Result>(_ body: () throws -> Result) throws -> Result {
  try runBlocking { try BlockingCalls.withParking(body) }
}

/// Reads so many bytes at most, as a string; nil for an error.
func readText(_ descriptor: Int32, _ count: Int = 64) -> String? {
  var bytes = [UInt8](repeating: 0, count: count)
  let result = cbl_read(descriptor, &bytes, count)
  return result < 0 ? nil : String(decoding: bytes.prefix(result), as: UTF8.self)
}

/// Writes a string; what write returns, or minus the error.
@discardableResult
func writeText(_ descriptor: Int32, _ text: String) -> Int {
  let bytes = Array(text.utf8)
  return cbl_write(descriptor, bytes, bytes.count)
}

/// What became of a call, at all of its sites.
func total(_ call: String) -> (parked: Int, offloaded: Int, passed: Int, blocked: Int) {
  BlockingCalls.report().filter { $0.call == call }.reduce((0, 0, 0, 0)) {
    ($0.0 + $1.parked, $0.1 + $1.offloaded, $0.2 + $1.passed, $0.3 + $1.blocked)
  }
}

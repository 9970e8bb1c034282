// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import Testing

#if canImport(Darwin)
import Darwin
private let stream = SOCK_STREAM
#else
import Glibc
private let stream = Int32(SOCK_STREAM.rawValue)
#endif

/// Two connected sockets that do not block.
final class TestSockets: @unchecked Sendable {
  // SAFETY: constants.
  let here: Int32
  let there: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, stream, 0, &ends) == 0)
    for end in ends { try #require(fcntl(end, F_SETFL, O_NONBLOCK) == 0) }
    (here, there) = (ends[0], ends[1])
  }

  /// A byte for `here`.
  func sendHere() {
    var byte: UInt8 = 1
    #expect(write(there, &byte, 1) == 1)
  }

  /// Takes all that is there for `here`.
  func emptyHere() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(here, &bytes, bytes.count) > 0 {}
  }

  /// The end at `there` has come, within minutes.
  func isEndedThere() -> Bool {
    var wanted = pollfd(fd: there, events: Int16(POLLIN), revents: 0)
    var byte: UInt8 = 0
    return poll(&wanted, 1, 300_000) == 1 && read(there, &byte, 1) == 0
  }

  /// Has nothing to read at `there` now; neither a byte nor the end.
  func isQuietThere() -> Bool {
    var wanted = pollfd(fd: there, events: Int16(POLLIN), revents: 0)
    return poll(&wanted, 1, 0) == 0
  }
}

// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesBlockingCalls
import Foundation

/// Synchronous code that knows nothing of coroutines; it might be a library in C.
func echo(_ descriptor: Int32) {
  var bytes = [UInt8](repeating: 0, count: 256)
  while true {
    let count = read(descriptor, &bytes, bytes.count)
    if count <= 0 || write(descriptor, bytes, count) != count { break }
  }
  close(descriptor)
}

BlockingCalls.enable()
try runBlocking {
  var ends: [Int32] = [0, 0]
  socketpair(AF_UNIX, numericCast(SOCK_STREAM.rawValue), 0, &ends)
  let server = launch { [ends] in echo(ends[1]) }

  // Both ends on one thread: each call that has to wait lets the other side run.
  var answer = [UInt8](repeating: 0, count: 5)
  write(ends[0], Array("hello".utf8), 5)
  read(ends[0], &answer, 5)
  print(String(decoding: answer, as: UTF8.self))  // prints hello

  // Ending the wait of another: its read fails, with errno ECANCELED.
  server.cancel()
  try server.join()
  print(read(ends[0], &answer, 5))  // prints 0

  let reads = BlockingCalls.report().filter { $0.call == "read" }
  print(reads.contains { $0.parked > 0 }, reads.contains { $0.blocked > 0 })  // prints true false
}

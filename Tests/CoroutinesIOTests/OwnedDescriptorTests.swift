// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import CoroutineTestSupport
import Dispatch
import Testing

@testable import CoroutinesIO

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// When the number of a closed descriptor may be another's.
@Suite(.timeLimit(.minutes(30))) struct OwnedDescriptorTests {
  @Test func `a number is given back only when the table knows (O3)`() throws {
    let (one, other) = try ByteStream.pair()
    let descriptor = one.descriptor
    let number = descriptor.number
    let entry = try #require(DescriptorTable.entry(number))
    let closed = DispatchSemaphore(value: 0)
    entry.lock.withLock {
      let result = descriptor.use { _ in
        startKernelThread(named: "closer") {
          descriptor.close()
          closed.signal()
        }
        while !descriptor.isClosed { sched_yield() }
        return 0
      }
      // The last user but the one who closes has left, and nobody can tell the table as long as this lock is held.
      #expect(result == 0)
      #expect(fcntl(number, F_GETFD) >= 0)
    }
    closed.wait()
    #expect(descriptor.use { _ in 0 } == Int(-EBADF))
    // Its other end hears of it, once no process that another test has forked holds a copy any more.
    var wanted = pollfd(fd: other.descriptor.number, events: Int16(POLLIN), revents: 0)
    #expect(poll(&wanted, 1, 300_000) == 1)
    var byte: UInt8 = 0
    #expect(recv(other.descriptor.number, &byte, 1, 0) == 0)
  }
}

// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A descriptor of the library's own.
struct Adopted: @unchecked Sendable {
  // SAFETY: constants; the entry guards itself.
  let number: Int32
  let entry: UnsafeMutablePointer<DescriptorEntry>
  let generation: UInt32

  init(_ number: Int32) {
    self.number = number
    guard let entry = DescriptorTable.entry(number) else { fatalError("no descriptor") }
    self.entry = entry
    generation = DescriptorTable.adopt(number)
  }

  /// Waits for the next edge; at most so many nanoseconds.
  func wait(
    for direction: DescriptorDirection,
    atMost limit: Int64? = nil
  ) throws -> DescriptorWait.Outcome {
    try wait(for: direction, since: entry.edges(direction), atMost: limit)
  }

  /// Waits for an edge after those that have been seen.
  func wait(
    for direction: DescriptorDirection,
    since seen: UInt32,
    atMost limit: Int64? = nil
  ) throws -> DescriptorWait.Outcome {
    try DescriptorWait.wait(
      entry,
      number,
      generation: generation,
      for: direction,
      since: seen,
      deadline: limit.map { clockNow() + $0 },
      "test"
    )
  }

  /// Returns when so many wait to read.
  func untilWaited(by count: Int) {
    while true {
      let found = entry.lock.withLock { entry.pointee.readers.length }
      if found >= count { return }
      sched_yield()
    }
  }

  /// As a stream's `close`.
  func close() {
    DescriptorTable.retire(number)
    #if canImport(Darwin)
    Darwin.close(number)
    #else
    Glibc.close(number)
    #endif
  }
}

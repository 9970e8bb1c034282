// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Whether all that had come at an edge has been read: then the next read need not ask the system before it
/// waits.
///
/// epoll(7), "Questions and answers" 9: on a stream, a read of less than was asked for has taken all.
struct DrainMark: ~Copyable {
  /// The number of edges, and 2³² above it; 0 for "there may be more".
  private let mark = Atomic<UInt64>(0)

  @inline(__always)
  func isDrained(at edges: UInt32) -> Bool {
    mark.load(ordering: .relaxed) == UInt64(edges) | 1 << 32
  }

  @inline(__always)
  func note(_ edges: UInt32?) {
    mark.store(edges.map { UInt64($0) | 1 << 32 } ?? 0, ordering: .relaxed)
  }
}

/// How long a wait may take.
struct IdleLimit: ~Copyable {
  /// Nanoseconds; negative for no limit.
  private let value = Atomic<Int64>(-1)

  var nanoseconds: Int64? {
    get {
      let value = value.load(ordering: .relaxed)
      return value < 0 ? nil : value
    }
    nonmutating set { value.store(newValue ?? -1, ordering: .relaxed) }
  }
}

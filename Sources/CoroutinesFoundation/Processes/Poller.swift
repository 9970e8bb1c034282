// SPDX-License-Identifier: Apache-2.0

import CCoroutinesFoundation
import CoroutineKernel
import Foundation

/// One thread that polls the descriptors that somebody waits for.
///
/// Not a dispatch source: on Linux, one that waits to write to a full pipe never hears that nobody reads
/// any more. It looks at all of them whenever one is ready or added, so it is for hundreds, not for
/// thousands.
final class Poller: @unchecked Sendable {
  // SAFETY: everything that changes is guarded by `lock`.

  /// The poller of this process.
  static let shared = Poller()

  private struct Entry {
    let descriptor: Int32
    let events: Int32
    let action: @Sendable () -> Void
  }

  private let lock = NSLock()
  private var entries: [UInt64: Entry] = [:]
  private var lastTicket: UInt64 = 0
  /// A byte written here ends the thread's sleep; -1 as long as there is no thread.
  private var bell: (reading: Int32, writing: Int32) = (-1, -1)

  private init() {}

  /// Has `action` called, once, when a call on the descriptor would not block any more.
  ///
  /// The action must not wait for anything.
  ///
  /// - Returns: What `remove` takes.
  /// - Throws: `POSIXError` if there is no thread or no descriptor left.
  func add(
    _ descriptor: Int32,
    _ events: Int32,
    _ action: @escaping @Sendable () -> Void
  ) throws -> UInt64 {
    try lock.withLock {
      if bell.writing < 0 { try start() }
      lastTicket += 1
      entries[lastTicket] = Entry(descriptor: descriptor, events: events, action: action)
      ring()
      return lastTicket
    }
  }

  /// Forgets about it; no effect if the action has been called.
  ///
  /// The descriptor may be closed at once. The thread is woken to let go of it: as long as it polls, the
  /// system keeps the file open, and whoever holds the other end would not hear of the closing.
  func remove(_ ticket: UInt64) {
    // Released out here: what the action holds may be the last of its kind.
    let entry = lock.withLock {
      let entry = entries.removeValue(forKey: ticket)
      if entry != nil { ring() }
      return entry
    }
    withExtendedLifetime(entry) {}
  }

  private func start() throws {
    var ends: [Int32] = [-1, -1]
    guard ccf_pipe(&ends) == 0 else { throw POSIXError.current }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    guard startKernelThread(named: "poller", { self.run(bell: ends[0]) }) else {
      for end in ends { close(end) }
      throw POSIXError(.EAGAIN)
    }
    bell = (ends[0], ends[1])
  }

  /// A full pipe rings as well.
  private func ring() {
    var byte: UInt8 = 0
    _ = write(bell.writing, &byte, 1)
  }

  private func run(bell: Int32) {
    var rung = [UInt8](repeating: 0, count: 512)
    while true {
      let (tickets, watched) = lock.withLock { (Array(entries.keys), Array(entries.values)) }
      var polled = watched.map {
        pollfd(fd: $0.descriptor, events: Int16($0.events), revents: 0)
      }
      polled.append(pollfd(fd: bell, events: Int16(POLLIN), revents: 0))
      guard poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
      if polled[watched.count].revents != 0 {
        while read(bell, &rung, rung.count) == rung.count {}
      }
      for (index, ticket) in tickets.enumerated() where polled[index].revents != 0 {
        lock.withLock { entries.removeValue(forKey: ticket) }?.action()
      }
    }
  }
}

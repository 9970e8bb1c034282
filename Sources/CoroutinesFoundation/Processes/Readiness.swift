// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch
import Foundation

/// Waits until a pipe, a socket or a terminal can be read or written without blocking.
enum Readiness {
  case toRead
  case toWrite

  /// Where the sources of all waits report; what they do there takes no time.
  private static let queue = DispatchQueue(label: "swift-coroutines.readiness")

  /// Waits until `descriptor` is ready: parks the calling coroutine, or blocks the thread if there is
  /// none.
  ///
  /// Ready means that one call does not block, be it because of data, of an end or of an error. A
  /// coroutine lets others run even if there is nothing to wait for.
  ///
  /// *Cancellation:* ends the wait; nothing has been read or written.
  func wait(_ descriptor: Int32) throws {
    guard Coroutine.current != nil else {
      _ = poll(descriptor, timeout: -1)
      return
    }
    if poll(descriptor, timeout: 0) {
      try Coroutine.yield()
      return
    }
    let promise = Promise<Void>()
    let source: any DispatchSourceProtocol =
      switch self {
      case .toRead: DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
      case .toWrite: DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: Self.queue)
      }
    source.setEventHandler { source.cancel() }
    // The wait is over only when libdispatch is done with the descriptor: then it may be closed.
    source.setCancelHandler { promise.fulfill(()) }
    source.resume()
    do {
      try promise.await()
    } catch {
      source.cancel()
      try withCancellationShield { try promise.await() }
      throw error
    }
  }

  private func poll(_ descriptor: Int32, timeout: Int32) -> Bool {
    var watched = pollfd(
      fd: descriptor,
      events: Int16(self == .toRead ? POLLIN : POLLOUT),
      revents: 0
    )
    while true {
      let count = Foundation.poll(&watched, 1, timeout)
      if count < 0, errno == EINTR { continue }
      // An error shows in the call that follows.
      return count != 0
    }
  }
}

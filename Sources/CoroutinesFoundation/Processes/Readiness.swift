// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import Foundation

/// Waits until a pipe, a socket or a terminal can be read or written without blocking.
enum Readiness {
  case toRead
  case toWrite

  /// Waits until `descriptor` is ready: parks the calling coroutine, or blocks the thread if there is
  /// none.
  ///
  /// Ready means that one call does not block, be it because of data, of an end or of an error. A
  /// coroutine lets others run even if there is nothing to wait for.
  ///
  /// *Cancellation:* ends the wait; nothing has been read or written, and the descriptor may be closed.
  func wait(_ descriptor: Int32) throws {
    guard Coroutine.current != nil else {
      _ = poll(descriptor, timeout: -1)
      return
    }
    if poll(descriptor, timeout: 0) {
      try Coroutine.yield()
      return
    }
    switch try DescriptorWait.wait(descriptor, for: direction, "reading or writing a pipe") {
    case .failed(let code): throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    case .ready, .timedOut, .closed: return
    }
  }

  private var direction: DescriptorWait.Direction { self == .toRead ? .reading : .writing }

  private var events: Int32 { self == .toRead ? Int32(POLLIN) : Int32(POLLOUT) }

  private func poll(_ descriptor: Int32, timeout: Int32) -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    while true {
      let count = Foundation.poll(&watched, 1, timeout)
      if count < 0, errno == EINTR { continue }
      // An error shows in the call that follows.
      return count != 0
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Writes to the standard streams, past any buffer: what is written is seen.
enum Output {
  /// Writes all of a text.
  ///
  /// - Returns: False if that was not possible; then `errno` says why.
  static func write(_ text: String, to descriptor: Int32) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count >= 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno == EAGAIN {
          // A terminal that somebody else has set to non-blocking.
          var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&ready, 1, -1)
        } else if errno != EINTR {
          return false
        }
      }
      return true
    }
  }
}

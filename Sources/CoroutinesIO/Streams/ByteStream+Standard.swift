// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import Coroutines

extension ByteStream {
  /// The process's standard input, as a stream of its own.
  ///
  /// A terminal or a pipe is opened anew, so that nobody who shares it, such as the shell, finds that it does not
  /// block any more; where the system does not allow that (not Linux, or another user's terminal) they do. What a
  /// redirection makes of it, a socket or a file, will do too: files block their thread for the time of a read.
  ///
  /// Does not park. Use one; two would each get a part of what comes.
  ///
  /// - Returns: The stream. Closing it leaves the process's descriptor 0 open.
  /// - Throws: `IOError`, with `EBADF` if the process has none.
  public static func standardInput() throws -> ByteStream {
    try standard(0, isForWriting: false, "standard input")
  }

  /// The process's standard output, as a stream of its own; see `standardInput`.
  ///
  /// What `print` has not handed to the system yet comes after what is written here.
  ///
  /// - Returns: The stream. Closing it leaves the process's descriptor 1 open, so it is no end for who reads.
  /// - Throws: `IOError`, with `EBADF` if the process has none.
  public static func standardOutput() throws -> ByteStream {
    try standard(1, isForWriting: true, "standard output")
  }

  /// The process's standard error, as a stream of its own; see `standardInput`.
  ///
  /// - Returns: The stream. Closing it leaves the process's descriptor 2 open.
  /// - Throws: `IOError`, with `EBADF` if the process has none.
  public static func standardError() throws -> ByteStream {
    try standard(2, isForWriting: true, "standard error")
  }

  /// A stream of what a descriptor stands for, whose own flags stay.
  package static func standard(
    _ number: Int32,
    isForWriting: Bool,
    _ name: String
  ) throws -> ByteStream {
    let result = cio_reopen(number, isForWriting ? 1 : 0)
    let descriptor = Int32(try IOError.check(result, "opening", name))
    return ByteStream(
      OwnedDescriptor(takingOver: descriptor),
      isSocket: cio_is_socket(descriptor) == 1,
      peer: nil,
      drains: cio_short_read_is_all(descriptor) == 1
    )
  }
}

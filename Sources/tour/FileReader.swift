// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reads one file after the other, in chunks.
///
/// All its methods block.
/// Chunks are full but for a file's last: where a chunk ends depends on the content alone.
final class FileReader: @unchecked Sendable {
  // SAFETY: its user waits for each call to end before it makes the next. One that is cancelled while a
  // call is on its way never touches the reader again; the call itself keeps it alive to its end.

  /// Big enough that system calls cost little, small enough to stay in the processor's cache.
  static let chunkSize = 128 << 10

  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: FileReader.chunkSize,
    alignment: 64
  )
  private var descriptor: Int32 = -1
  private var path = BytePath([])

  deinit {
    close()
    buffer.deallocate()
  }

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - followsLink: If `path` is a symbolic link, it stands for what it leads to.
  /// - Returns: Which file it is; nil if it turns out to be no regular file.
  /// - Throws: `Problem`.
  func open(_ path: BytePath, followsLink: Bool = false) throws -> FileIdentity? {
    close()
    self.path = path
    // Without waiting: a pipe may have taken the file's place since its directory was read.
    let flags =
      O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW)
    descriptor = path.withCString { Glibc.open($0, flags) }
    guard descriptor >= 0 else { throw Problem(path, errno: errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Problem(path, errno: errno) }
    return status.st_mode & S_IFMT == S_IFREG ? FileIdentity(status) : nil
  }

  /// Reads the next chunk; an incomplete one is the last.
  ///
  /// - Returns: The bytes, valid until the next call.
  /// - Throws: `Problem`.
  func nextChunk() throws -> UnsafeRawBufferPointer {
    var filled = 0
    while filled < buffer.count {
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let count = read(descriptor, room.baseAddress, room.count)
      if count == 0 { break }
      if count > 0 {
        filled += count
      } else if errno != EINTR {
        throw Problem(path, errno: errno)
      }
    }
    return UnsafeRawBufferPointer(rebasing: buffer[..<filled])
  }

  func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }
}

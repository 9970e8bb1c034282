// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that is not complete, under a name that nobody looks for; to be published or discarded.
///
/// All its methods block.
final class PartFile: @unchecked Sendable {
  // SAFETY: its user waits for each call to end before it makes the next, cancelled or not.

  private let path: BytePath
  private let descriptor: Int32
  /// Its own name is gone: it has been published or discarded.
  private var isSettled = false

  /// Makes an empty one.
  ///
  /// - Throws: `Problem`.
  init(in directory: BytePath) throws {
    var template = directory.appending(Array(".tour-mirror-XXXXXX".utf8)).bytes
    template.append(0)
    descriptor = template.withUnsafeMutableBytes { bytes in
      // SAFETY: the array is not empty, and ends with the NUL.
      mkstemp(bytes.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped)
    }
    path = BytePath(template.dropLast())
    // What `path` says then is nobody's.
    isSettled = descriptor < 0
    guard descriptor >= 0 else { throw Problem(directory, errno: errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit {
    discard()
    if descriptor >= 0 { close(descriptor) }
  }

  /// Takes it away, unless it has been published.
  ///
  /// Not left to `deinit`: a thread that has just done a call may hold the file a moment longer than the process lives.
  func discard() {
    if !isSettled { _ = path.withCString { unlink($0) } }
    isSettled = true
  }

  /// Appends bytes.
  ///
  /// - Throws: `Problem`.
  func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        throw Problem(path, errno: errno)
      }
    }
  }

  /// It is complete: gives it its name, and takes the place of what has it.
  ///
  /// - Throws: `Problem`.
  func publish(as destination: BytePath) throws {
    // As files are that one makes oneself; nobody else could have read it so far.
    let mask = umask(0o022)
    umask(mask)
    guard fchmod(descriptor, 0o666 & ~mask) == 0,
      path.withCString({ from in destination.withCString { rename(from, $0) } }) == 0
    else { throw Problem(destination, errno: errno) }
    isSettled = true
  }
}

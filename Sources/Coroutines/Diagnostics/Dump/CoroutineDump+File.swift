// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A dump could not be written to a file.
public struct DumpFileError: Error, Hashable, CustomStringConvertible {
  /// The file.
  public let path: String
  /// The system's error number.
  public let code: Int32

  /// What happened, to what, and what to do.
  public var description: String {
    "The dump of coroutines was not written to \(path): \(String(cString: strerror(code))) (\(code)). "
      + "Name a file in a directory that the program may write to."
  }
}

extension CoroutineDump {
  /// Writes the dump to a file, as JSON if its name says so, else as text.
  ///
  /// A name that ends in `.json` says so. What was in the file is replaced. Blocks the thread while it writes.
  ///
  /// - Parameter path: The file.
  /// - Throws: `DumpFileError`.
  public func write(to path: String) throws(DumpFileError) {
    let text = path.hasSuffix(".json") ? json : description
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw DumpFileError(path: path, code: errno) }
    let code = Self.write(text + "\n", to: file)
    close(file)
    if code != 0 { throw DumpFileError(path: path, code: code) }
  }

  /// - Returns: 0, or an error number.
  private static func write(_ text: String, to file: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
      var done = 0
      while done < bytes.count, let start = bytes.baseAddress {
        #if canImport(Darwin)
        let count = Darwin.write(file, start + done, bytes.count - done)
        #else
        let count = Glibc.write(file, start + done, bytes.count - done)
        #endif
        if count >= 0 {
          done += count
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
  }
}

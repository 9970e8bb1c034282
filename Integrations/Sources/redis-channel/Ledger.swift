// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that a process writes down in what it has done, line by line.
///
/// Each line is one write to the system, which keeps it though the process is killed right after.
struct Ledger {
  private let descriptor: Int32

  init(_ path: String) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { stop("\(path): \(String(cString: strerror(errno)))") }
  }

  func note(_ words: String) {
    let line = words + "\n"
    guard write(descriptor, line, line.utf8.count) == line.utf8.count else {
      stop("the ledger cannot be written")
    }
  }

  /// The words of each line of all ledgers in a directory.
  static func lines(in directory: String) -> [[String]] {
    guard let handle = opendir(directory) else { stop("\(directory): no such directory") }
    defer { closedir(handle) }
    var lines: [[String]] = []
    while let entry = readdir(handle) {
      // SAFETY: the system ends the name with a zero, inside the field.
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.hasSuffix(".ledger"), let file = fopen("\(directory)/\(name)", "r") else {
        continue
      }
      defer { fclose(file) }
      var buffer = [CChar](repeating: 0, count: 4096)
      while fgets(&buffer, Int32(buffer.count), file) != nil {
        let line = String(
          decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
          as: UTF8.self
        )
        lines.append(line.split(whereSeparator: \.isWhitespace).map { String($0) })
      }
    }
    return lines
  }
}
